import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReturnRecord } from '../../../../core/author/returner.ts'
import { storedJobs } from '../../../../core/client/services/stored-jobs.ts'
import { JobCache } from '../../../../core/jobs/job-cache.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

const jid = '20261122075150809083'
const returns: ReturnRecord[] = ['web1', 'web2'].map((id) => ({
  jid,
  id,
  fun: 'test.arg',
  fun_args: [3],
  return: true,
  retcode: 0,
  success: true,
  user: 'ann',
}))

let directory: string
let cache: JobCache
beforeEach(async () => {
  directory = await temporaryFolder('salt-stored-')
  cache = JobCache.open(directory)
})
afterEach(async () => {
  await cache.close()
  await removeFolder(directory)
})

/** A store to which minions wrote returns, but nobody the job. */
const store = (found: readonly ReturnRecord[]) => ({
  get: async () => undefined,
  returns: async () => [...found],
  async *list() {},
})

test('a job of which a store has only returns is completed from the job cache', async () => {
  await cache.saveLoad(jid, { fun: 'test.arg', tgt: '*', arg: [3] }, ['web1', 'web2', 'db1'])
  const jobs = storedJobs(async () => cache, store(returns))
  expect(await jobs.get(jid, { source: 'redis' })).toMatchObject({
    load: { tgt: '*' },
    minions: ['web1', 'web2', 'db1'],
  })
})

test('a job of which a store has only returns, and the job cache nothing, is derived from the returns', async () => {
  const jobs = storedJobs(async () => cache, store(returns))
  expect(await jobs.get(jid, { source: 'redis' })).toEqual({
    jid,
    load: { fun: 'test.arg', arg: [3], tgt: ['web1', 'web2'], tgt_type: 'list', user: 'ann' },
    minions: ['web1', 'web2'],
  })
})

test('a job of which a store has nothing does not exist', async () => {
  await cache.saveLoad(jid, { fun: 'test.arg', tgt: '*', arg: [3] }, [])
  const jobs = storedJobs(async () => cache, store([]))
  expect(await jobs.get(jid, { source: 'redis' })).toBeUndefined()
})
