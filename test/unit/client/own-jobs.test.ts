import { expect, test } from 'vitest'
import type { StoredJob } from '../../../core/author/context.ts'
import { onlyJobsOf } from '../../../core/client/own-jobs.ts'
import { fakeMaster } from '../../../core/testing/services.ts'

const job = (jid: string, user: string): StoredJob => ({
  jid,
  load: { fun: 'test.arg', user },
  minions: ['web1'],
})
const stored = [job('4', 'ann'), job('3', 'root'), job('2', 'ann'), job('1', 'ann')]

const services = fakeMaster(() => true, {
  jobs: {
    get: async (jid) => stored.find((one) => one.jid === jid),
    returns: async () => [{ id: 'web1', return: 'a secret' }],
    unreturned: async () => [{ id: 'web2', state: 'started', reason: 'It runs.' }],
    async *list({ limit = 10 } = {}) {
      yield* stored.slice(0, limit)
    },
    archive: fakeMaster(() => true, {}).jobs.archive,
  },
  running: async () => ['ann', 'root'].map((user) => ({ jid: user, fun: 'f', user, pid: 1, fun_args: [] })),
})
const { jobs, running } = onlyJobsOf('ann', services)

const listed = async (limit?: number) => {
  const found: string[] = []
  for await (const { jid } of jobs.list({ limit })) found.push(jid)
  return found
}

test('jobs of others are not found, listed or told of', async () => {
  expect(await listed()).toEqual(['4', '2', '1'])
  expect(await listed(2)).toEqual(['4', '2'])
  expect([await jobs.get('3'), await jobs.returns('3'), await jobs.unreturned('3')]).toEqual([
    undefined,
    [],
    [],
  ])
  expect(await jobs.returns('2')).toEqual([{ id: 'web1', return: 'a secret' }])
  expect(await jobs.unreturned('2')).toHaveLength(1)
  expect((await running()).map(({ user }) => user)).toEqual(['ann'])
})

test('files of all jobs are for who may do everything', async () => {
  const { archive } = jobs
  await expect(archive.export('/tmp/x')).rejects.toThrow('ann sees only jobs of their own (visible_jobs')
  await expect(archive.backup('/tmp/x')).rejects.toThrow('visible_jobs')
})
