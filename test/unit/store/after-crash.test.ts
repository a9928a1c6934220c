import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SaltError } from '../../../core/base/errors.ts'
import { checkAfterCrash, openStore } from '../../../core/store/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { testProgram } from '../../harness/test-program.ts'

let directory: string
const holders: ChildProcess[] = []
beforeEach(async () => {
  directory = await temporaryFolder('salt-crash-')
})
afterEach(() => {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL')
  return removeFolder(directory)
})

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

test('after a clean end stores are not checked', async () => {
  const leave = await start()
  await leave()
  await makeStores()
  const damages: SaltError[] = []
  await start(damages)
  expect(damages).toEqual([])
  expect(existsSync(join(directory, 'broken.mdb'))).toBe(true)
})

test('after a crash a store that cannot be read is moved aside and reported; others stay', SLOW, async () => {
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

test('a pipe in place of the marker is named', async () => {
  execFileSync('mkfifo', [join(directory, '.running')])
  await expect(start()).rejects.toThrow(
    `${join(directory, '.running')} cannot be written: ${join(directory, '.running')} is a pipe, not a regular file.`,
  )
})

/** A process that has been stopped while it has the lock of a store, as by a debugger, or by SIGSTOP. */
async function holdLock(path: string): Promise<ChildProcess> {
  const file = await testProgram('store-child.ts', import.meta.url)
  const child = spawn(process.execPath, [file, path, 'hold-lock'])
  holders.push(child)
  await new Promise((holding) => child.stdout.once('data', holding))
  return child
}

test(
  'a process that keeps a store locked is named, and the start fails instead of waiting for ever',
  SLOW,
  async () => {
    await start()
    await makeStores()
    const path = join(directory, 'whole.mdb')
    const holder = await holdLock(path)
    const marker = join(directory, '.running')
    const started = checkAfterCrash({ marker, stores: [path], onDamage: () => undefined, lockMs: 500 })
    await expect(started).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringMatching(`${path} cannot be opened: .* by process ${holder.pid} \\(`),
    })
  },
)

test('a check that waits for a lock ends with its signal', SLOW, async () => {
  await start()
  await makeStores()
  const path = join(directory, 'whole.mdb')
  await holdLock(path)
  const ending = new AbortController()
  const started = checkAfterCrash({
    marker: join(directory, '.running'),
    stores: [path],
    onDamage: () => undefined,
    onWait: () => ending.abort(),
    signal: ending.signal,
  })
  await (await started)()
})

test('a store that is locked for a while is awaited, which is reported', SLOW, async () => {
  await start()
  await makeStores()
  const path = join(directory, 'whole.mdb')
  const holder = await holdLock(path)
  const waits: string[] = []
  const leave = await checkAfterCrash({
    marker: join(directory, '.running'),
    stores: [path],
    onDamage: () => undefined,
    onWait: (sentence) => {
      waits.push(sentence)
      holder.kill('SIGKILL')
    },
  })
  await leave()
  expect(waits).toEqual([
    expect.stringMatching(`The store ${path} has been locked for \\d+ seconds by process ${holder.pid} `),
  ])
})
