import { expect, test } from 'vitest'
import type { BatchStatus, StoredJob } from '../../../../core/author/context.ts'
import { restrictToOwner } from '../../../../core/client/functions/own-jobs.ts'
import { fakeMaster } from '../../../../core/testing/services.ts'

const job = (jid: string, owner?: string): StoredJob => ({
  jid,
  load: { fun: 'test.arg', user: 'ann', ...(owner && { owner }) },
  minions: ['web1'],
})
const [ANN, HOST] = ['eauth:file:ann', 'host:ann'] as const
const stored = [job('4', ANN), job('3', HOST), job('2', ANN), job('1', ANN), job('0')]
const batch = (jid: string, owner?: string): BatchStatus => ({
  jid,
  fun: 'test.arg',
  user: 'ann',
  phase: 'run',
  minions: {},
  ...(owner && { owner }),
})
const stopped: string[] = []
const killed: string[] = []

const fired: string[] = []

const services = fakeMaster(() => true, {
  jobs: {
    get: async (jid) => stored.find((one) => one.jid === jid),
    returns: async () => [{ id: 'web1', return: 'a secret' }],
    unreturned: async () => [{ id: 'web2', jid: '2', state: 'started', reason: 'It runs.' }],
    waiting: async () =>
      stored.map((one) => ({ ...one, until: '2030-01-01T00:00:00.000Z', minions: ['web1'] })),
    cancel: async () => ({ cancelled: ['web1'], expired: [] }),
    async *list({ limit = 10 } = {}) {
      yield* stored.slice(0, limit)
    },
    archive: fakeMaster(() => true, {}).jobs.archive,
  },
  fire: async (tag) => fired.push(tag) > 0,
  running: async () =>
    [ANN, HOST].map((owner) => ({ jid: owner, fun: 'f', user: 'ann', owner, pid: 1, fun_args: [] })),
  killRun: async (jid) => killed.push(jid) > 0,
  batches: {
    async *list() {
      yield* [batch('3', HOST), batch('2', ANN), batch('1')]
    },
    get: async (jid) => batch(jid, jid === '2' ? ANN : jid === '3' ? HOST : undefined),
    stop: async (jid) => stopped.push(jid) > 0,
  },
})
const { jobs, running, killRun, batches, fire } = restrictToOwner({ user: 'ann', owner: ANN }, services)

const listed = async (limit?: number) => {
  const found: string[] = []
  for await (const { jid } of jobs.list({ limit })) found.push(jid)
  return found
}

test('jobs of other users, or without an owner, are not found or listed', async () => {
  expect(await listed()).toEqual(['4', '2', '1'])
  expect(await listed(2)).toEqual(['4', '2'])
  expect([await jobs.get('3'), await jobs.returns('3'), await jobs.unreturned('3')]).toEqual([
    undefined,
    [],
    [],
  ])
  expect(await jobs.returns('2')).toEqual([{ id: 'web1', return: 'a secret' }])
  expect(await jobs.unreturned('2')).toHaveLength(1)
  expect(await jobs.get('0')).toBeUndefined()
  expect((await running()).map(({ jid }) => jid)).toEqual([ANN])
})

test('waiting jobs of other users are neither listed nor cancelled', async () => {
  expect((await jobs.waiting()).map(({ jid }) => jid)).toEqual(['4', '2', '1'])
  expect(await jobs.cancel('3')).toEqual({ cancelled: [], expired: [] })
  expect(await jobs.cancel('2')).toEqual({ cancelled: ['web1'], expired: [] })
})

test('runs of other users are not killed', async () => {
  expect([await killRun(HOST), await killRun('1'), await killRun(ANN)]).toEqual([false, false, true])
  expect(killed).toEqual([ANN])
})

test('batches of other users are not listed, shown or stopped', async () => {
  const found: string[] = []
  for await (const { jid } of batches.list()) found.push(jid)
  expect(found).toEqual(['2'])
  expect([await batches.get('3'), await batches.get('1')]).toEqual([undefined, undefined])
  expect([await batches.stop('3'), await batches.stop('1'), await batches.stop('2')]).toEqual([
    false,
    false,
    true,
  ])
  expect(stopped).toEqual(['2'])
})

test('a user without an owner finds no job without an owner', async () => {
  const nobody = restrictToOwner({ user: 'ann', owner: undefined }, services)
  expect(await nobody.jobs.get('0')).toBeUndefined()
})

test('a user who may not do everything cannot export or back up all jobs', async () => {
  const { archive } = jobs
  await expect(archive.export('/tmp/x')).rejects.toThrow('ann may see only their own jobs (visible_jobs')
  await expect(archive.backup('/tmp/x')).rejects.toThrow('visible_jobs')
})

test('a user who may not do everything cannot fire events in the name of the master', async () => {
  const jid = '20261121080000000001'
  for (const tag of [
    `salt/job/${jid}/new`,
    `salt/job/${jid}/ret/web1`,
    'salt/key',
    'salt/minion//start',
    jid,
  ])
    await expect(fire(tag, { owner: ANN })).rejects.toThrow('ann may not fire events with tags of Salt')
  expect(await fire('my/deploy', {})).toBe(true)
  expect(fired).toEqual(['my/deploy'])
})
