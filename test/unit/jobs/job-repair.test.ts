import { expect, test } from 'vitest'
import { JobCache } from '../../../core/jobs/job-cache.ts'
import { keysUnder, openStore } from '../../../core/store/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const jidOf = (n: number) => `202402291200${String(n).padStart(8, '0')}`
const load = { fun: 'test.ping', tgt: '*', user: 'root' }

test('a repair restores the ages and the index of a damaged store, so that every job is found and expires', async () => {
  const directory = await temporaryFolder('salt-repair-')
  let now = Date.UTC(2024, 1, 29)
  const cache = JobCache.open(directory, { clock: { now: () => now } })
  for (const n of [1, 2, 3]) await cache.create(jidOf(n), load, ['a'])
  for (const n of [1, 2, 3]) await cache.saveReturn(jidOf(n), 'a', { return: n })
  await cache.completeIndex()

  const store = openStore(JobCache.path(directory))
  await store.change((records) => {
    for (const key of [...records.keys(keysUnder('by')), ...records.keys(keysUnder('age'))])
      records.remove(key)
    records.remove(['job', jidOf(3)])
    records.put(['salvaged'], true)
  })
  const fitting = () => Array.from(cache.list({ functions: ['test.*'] }), ({ jid }) => jid)
  expect(fitting()).toEqual([jidOf(2), jidOf(1)])
  await cache.completeIndex()
  expect(fitting()).toEqual([jidOf(2), jidOf(1)])
  now += 1000
  expect(await cache.expire(new Date(now))).toBe(3)
  expect([...store.keys(keysUnder('ret'))]).toEqual([])
  await Promise.all([cache.close(), store.close()])
  await removeFolder(directory)
})
