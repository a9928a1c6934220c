/** Minions report which jobs have begun on them, and a lookup of such a job shows the state of each minion. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SaltError } from '../../core/base/errors.ts'
import { unreturned } from '../../core/client/services/unreturned.ts'
import { decode } from '../../core/codec/index.ts'
import { tags } from '../../core/events/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { until } from '../harness/until.ts'

let cluster: InProcessCluster

beforeAll(async () => {
  cluster = await InProcessCluster.open({
    minions: ['web1', 'web2'],
    transport: 'memory',
    minion: { multiprocessing: false, process_count_max: 1 },
  })
})
afterAll(() => cluster?.close())

async function publish(tgt: string, fun: string, arg: readonly unknown[]): Promise<string> {
  const load = { cmd: 'publish', tgt, fun, arg, user: 'root', key: await cluster.master.rootKey() }
  const reply = decode(await cluster.master.answer(packClear(load))) as { load: { jid: string } }
  return reply.load.jid
}

const receiptsOf = (jid: string) =>
  cluster.master.events.filter(({ tag }) => tag.startsWith(`salt/job/${jid}/start/`))

const noMaster = async () => Promise.reject(new SaltError('MASTER_UNREACHABLE', 'nobody there'))

const lookUp = (jid: string) =>
  unreturned(jid, {
    config: cluster.master.config,
    jobs: cluster.master.context.jobs,
    accepted: ['web1', 'web2'],
    client: noMaster,
  })

test('a longer job has a receipt of each minion, and counts as begun', async () => {
  const jid = await publish('web*', 'test.sleep', [2])
  await until('both receipts', () => receiptsOf(jid).length === 2)
  expect(receiptsOf(jid).map(({ tag, data }) => [tag, data])).toEqual(
    expect.arrayContaining([
      [tags.jobStart(jid, 'web1'), expect.objectContaining({ id: 'web1', jid, fun: 'test.sleep' })],
    ]),
  )
  await until('both to be stored', () => cluster.master.context.jobs.starts(jid).size === 2)
  const states = await lookUp(jid)
  expect(states.map(({ id, state }) => [id, state]).sort()).toEqual([
    ['web1', 'started'],
    ['web2', 'started'],
  ])
  await Promise.all(['web1', 'web2'].map((id) => cluster.returned(jid, id)))
  expect(await lookUp(jid)).toEqual([])
})

test('a job that waits for its turn has no receipt', async () => {
  const before = await publish('web1', 'test.sleep', [3])
  const queued = await publish('web1', 'test.arg', [1])
  await until('the receipt of the first', () => receiptsOf(before).length === 1)
  expect(receiptsOf(queued)).toEqual([])
  expect((await lookUp(queued)).map(({ state }) => state)).toEqual(['published'])
  await cluster.returned(queued, 'web1')
})

test('a receipt for an unknown job is not stored', async () => {
  const jid = '20261121000000000009'
  await cluster.master.context.jobs.noteStart(jid, 'web1')
  expect(cluster.master.context.jobs.starts(jid).size).toBe(0)
})

test('receipts go with their job when it expires', async () => {
  const jid = await publish('web1', 'test.sleep', [1.2])
  await until('the receipt', () => cluster.master.context.jobs.starts(jid).size === 1)
  await cluster.returned(jid, 'web1')
  await cluster.master.context.jobs.expire(new Date(cluster.master.now + 1))
  expect(cluster.master.context.jobs.starts(jid).size).toBe(0)
})
