/** `job_cache_store_endtime`: when the last return of a job came. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { JobCache } from '../../../core/jobs/job-cache.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const JID = '20300101000000000000'
let folder: string
let jobs: JobCache | undefined
let now = Date.UTC(2030, 0, 1)
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-end-')
})
afterEach(async () => {
  await jobs?.close()
  await removeFolder(folder)
})

async function twoReturns(endTimes: boolean): Promise<JobCache> {
  jobs = JobCache.open(folder, { clock: { now: () => now }, sinks: ['store'], endTimes })
  await jobs.create(JID, { fun: 'test.ping' }, ['web1', 'web2'])
  for (const id of ['web1', 'web2']) {
    now += 1000
    await jobs.saveReturn(JID, id, { return: true })
  }
  return jobs
}

test('the end time is stored with the job, sent to stores with each return, and removed with the job', async () => {
  const cache = await twoReturns(true)
  expect(cache.load(JID)?.endtime).toBe(new Date(now).toISOString())
  expect([...cache.list()][0]?.endtime).toBe(new Date(now).toISOString())
  const sent = (await cache.outbox.next('store'))?.entries.flatMap(({ item }) =>
    item.kind === 'return' ? [item.endtime] : [],
  )
  expect(sent).toEqual([new Date(now - 1000).toISOString(), new Date(now).toISOString()])
  await cache.expire(new Date(now + 1))
  await cache.create(JID, { fun: 'test.ping' }, ['web1'])
  expect(cache.load(JID)).not.toHaveProperty('endtime')
})

test('the end time is not stored by default', async () => {
  const cache = await twoReturns(false)
  expect(cache.load(JID)).not.toHaveProperty('endtime')
  expect(JSON.stringify(await cache.outbox.next('store'))).not.toContain('endtime')
})
