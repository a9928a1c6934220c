import { readdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CachedReturns } from '../../../core/minion/cached-returns.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const jid = '20261121034212345678'
const later = '20261121034212345679'
let directory: string
let cached: CachedReturns
beforeEach(async () => {
  directory = await temporaryFolder('salt-cached-')
  cached = new CachedReturns(directory)
})
afterEach(() => removeFolder(directory))

test('a return is found again, at the path where Salt stores it', async () => {
  await cached.save(jid, { jid, return: { a: [1, 2] } })
  expect(await cached.find(jid)).toEqual({ jid, return: { a: [1, 2] } })
  expect((await stat(join(directory, jid, 'return.p'))).mode & 0o777).toBe(0o600)
})

test('an invalid job id is neither stored nor looked up', async () => {
  await cached.save('../../etc', { return: 1 })
  expect(await readdir(directory)).toEqual([])
  expect(await cached.find('../../etc')).toBeUndefined()
})

test('only jobs older than the given hours are removed, and no other files', async () => {
  await cached.save(jid, { return: 1 })
  await cached.save(later, { return: 2 })
  await cached.save('20261121034212345670_12', { return: 3 })
  const yesterday = new Date(Date.now() - 25 * 3_600_000)
  await utimes(join(directory, jid), yesterday, yesterday)
  await cached.clear(24)
  expect((await readdir(directory)).sort()).toEqual(['20261121034212345670_12', later])
  await cached.clear(0)
  expect(await readdir(directory)).toEqual([])
})
