import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SaltError } from '../../../core/base/errors.ts'
import { checkAfterCrash, openStore } from '../../../core/store/index.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salt-crash-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const start = async (damages: SaltError[] = []) => {
  const marker = join(directory, '.running')
  const stores = ['whole.mdb', 'broken.mdb', 'none.mdb'].map((name) => join(directory, name))
  return checkAfterCrash({ marker, stores, onDamage: (error) => damages.push(error) })
}

async function makeStores(): Promise<void> {
  const store = openStore(join(directory, 'whole.mdb'))
  await store.put(['a'], 'value')
  await store.close()
  await writeFile(join(directory, 'broken.mdb'), Buffer.alloc(32_768, 0x5a))
}

test('after an end in order stores are not even looked at', async () => {
  const leave = await start()
  await leave()
  await makeStores()
  const damages: SaltError[] = []
  await start(damages)
  expect(damages).toEqual([])
  expect(existsSync(join(directory, 'broken.mdb'))).toBe(true)
})

test('after a crash a store that cannot be read is moved aside and told of; whole ones stay', async () => {
  await start() // and never left
  await makeStores()
  const damages: SaltError[] = []
  await start(damages)
  expect(damages.map(({ code, data }) => [code, data.path])).toEqual([
    ['STORE_FAILED', join(directory, 'broken.mdb')],
  ])
  const names = await readdir(directory)
  expect(names).toContain('whole.mdb')
  expect(names.filter((name) => name.startsWith('broken.mdb.damaged-'))).toHaveLength(1)
})
