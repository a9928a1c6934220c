import { afterEach, beforeEach, expect, test } from 'vitest'
import { JobCache } from '../../../core/jobs/job-cache.ts'
import { openStore } from '../../../core/store/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'

const HOUR = 3_600_000
const load = { fun: 'test.ping', tgt: '*', arg: [], user: 'root' }
const jidOf = (n: number) => `202402291200${String(n).padStart(8, '0')}`

let directory: string
let now: number
let cache: JobCache
beforeEach(async () => {
  directory = await temporaryFolder('salt-retention-')
  now = Date.UTC(2024, 1, 29)
  cache = JobCache.open(directory, { clock: { now: () => now }, sinks: ['elsewhere'] })
})
afterEach(async () => {
  await cache.close()
  await removeFolder(directory)
})

/** A job with returns of 2 KiB each, of which nothing is due any more. */
async function finished(n: number, minions: number): Promise<string> {
  const jid = jidOf(n)
  const ids = Array.from({ length: minions }, (_, m) => `m${m}`)
  await cache.create(jid, load, ids)
  await Promise.all(ids.map((id) => cache.saveReturn(jid, id, { return: 'x'.repeat(2000) })))
  await Promise.all(ids.map((id) => cache.unannounced.remove(jid, id)))
  return jid
}

async function written(): Promise<void> {
  for (let batch = await next(); batch; batch = await next())
    await cache.outbox.done('elsewhere', batch.entries)
}
const next = () => cache.outbox.next('elsewhere')

async function trimmed(most: number): Promise<string[]> {
  const gone: string[] = []
  for await (const jid of cache.trim(most)) gone.push(jid)
  return gone
}

test('the oldest jobs are removed completely until the size is within the limit', SLOW, async () => {
  const jids: string[] = []
  for (let n = 0; n < 10; n++) {
    jids.push(await finished(n, 200))
    now += 1000
  }
  await written()
  const used = cache.used()
  expect(used).toBeGreaterThan(10 * 200 * 2000)
  expect(await trimmed(used)).toEqual([])
  const gone = await trimmed(used * 0.6)
  expect(gone).toEqual(jids.slice(0, gone.length))
  expect(gone.length).toBeGreaterThanOrEqual(4)
  expect(gone.length).toBeLessThan(7)
  expect(cache.used()).toBeLessThanOrEqual(used * 0.6)
  expect(Array.from(cache.list(), ({ jid }) => jid)).toEqual(jids.slice(gone.length).reverse())
  for (const jid of jids) expect(cache.returns(jid).size).toBe(gone.includes(jid) ? 0 : 200)
  const store = openStore(JobCache.path(directory))
  const left = [...store.keys({ from: [''], to: ['z'] })].filter((key) =>
    gone.some((jid) => key.includes(jid)),
  )
  expect(left).toEqual([])
  await store.close()
})

test('jobs that may still run are kept, and jobs that are not yet written to a store outside or announced', async () => {
  const owed = await finished(1, 2)
  expect(await trimmed(0)).toEqual([])
  await written()

  const begun = jidOf(2)
  await cache.create(begun, load, ['a'])
  await cache.noteStart(begun, 'a')
  const silent = jidOf(3)
  await cache.create(silent, load, ['a'])
  const unannounced = jidOf(4)
  await cache.create(unannounced, load, ['a'])
  await cache.saveReturn(unannounced, 'a', { return: 1 })
  await written()

  expect(await trimmed(0)).toEqual([owed])
  now += 2 * HOUR // whoever has not said so does not run for hours
  expect(await trimmed(0)).toEqual([silent])
  await cache.unannounced.remove(unannounced, 'a')
  await cache.saveReturn(begun, 'a', { return: 1 })
  await cache.unannounced.remove(begun, 'a')
  await written()
  expect(await trimmed(0)).toEqual([begun, unannounced])
})

test('returns that arrive meanwhile do not wait for its end', SLOW, async () => {
  for (let n = 0; n < 3; n++) await finished(n, 700)
  await written()
  now += 2 * HOUR
  await cache.create(jidOf(100), load, ['a'])
  const order: string[] = []
  const trimming = trimmed(0).then(() => order.push('trimmed'))
  await cache.saveReturn(jidOf(100), 'a', { return: 1 }).then(() => order.push('stored'))
  await trimming
  expect(order).toEqual(['stored', 'trimmed'])
})
