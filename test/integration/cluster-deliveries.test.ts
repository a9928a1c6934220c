/** Jobs that wait for minions (`deliver_within`) in a cluster: a minion gets them from masters that did not publish them, too. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decode } from '../../core/codec/index.ts'
import { loadMasterKeys } from '../../core/keys/master-keys.ts'
import { Replica } from '../../core/master/cluster/replica.ts'
import { SharedValues } from '../../core/master/cluster/shared-values.ts'
import { replicatedWaitingJobs } from '../../core/master/cluster/waiting-jobs.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { readMissedJobsReply } from '../../core/wire/missed-jobs.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { quietLog } from '../harness/log.ts'
import { MemoryStore } from '../harness/memory-store.ts'
import { Peer } from '../harness/peer.ts'

const HOUR = 3_600

let store: MemoryStore
let one: Member
let two: Member
const close: (() => Promise<void>)[] = []

interface Member {
  readonly master: InProcessMaster
  readonly web1: Peer
  exchange(): Promise<void>
}

async function member(id: string): Promise<Member> {
  const master = await InProcessMaster.open({ options: { id, cluster_id: 'north' } })
  const web1 = await Peer.named('web1')
  await master.file('web1', web1.key.publicKey)
  await web1.signIn((frame) => master.answer(frame))
  const { key } = await loadMasterKeys(master.config)
  const { jobs, publications } = master.context
  const replica = Replica.open(master.root, {
    shared: new SharedValues(store, 'north', key),
    kinds: [replicatedWaitingJobs({ jobs, publications, master: id, now: () => master.now, checkMs: 0 })],
    cluster: 'north',
    master: id,
    log: quietLog,
    now: () => master.now,
  })
  close.push(async () => {
    await replica.close()
    await master.close()
  })
  return { master, web1, exchange: () => replica.exchange() }
}

beforeEach(async () => {
  store = new MemoryStore()
  one = await member('one')
  two = await member('two')
})
afterEach(async () => {
  for (const end of close.splice(0)) await end()
})

async function exchange(): Promise<void> {
  for (const each of [one, two, one, two]) await each.exchange()
}

async function publish(load: Record<string, unknown> = {}): Promise<string> {
  const key = await one.master.rootKey()
  const whole = { cmd: 'publish', tgt: 'web1', fun: 'test.echo', arg: ['x'], user: 'root', key, ...load }
  const reply = decode(await one.master.answer(packClear({ ...whole, deliver_within: HOUR })))
  await exchange()
  return String((reply as { load: { jid: string } }).load.jid)
}

async function request({ master, web1 }: Member, load: Record<string, unknown>): Promise<unknown> {
  const sealed = web1.seal(load)
  return sealed.open(await master.answer(sealed.frame))
}

const missed = async (member: Member) =>
  readMissedJobsReply(await request(member, { cmd: '_missed_jobs' })).jobs.map(({ job }) => job)
const take = (member: Member, jid: string, master_id = 'one') =>
  request(member, { cmd: '_take_job', jid, master_id })

test('a minion gets a job from another master than the one that published it, which learns of the delivery', async () => {
  const jid = await publish()
  expect(await missed(two)).toMatchObject([
    { jid, arg: ['x'], tgt: ['web1'], tgt_type: 'list', master_id: 'one' },
  ])
  expect(await take(two, jid)).toEqual({ state: 'delivered' })
  expect(await take(two, jid)).toEqual({ state: 'delivered' })
  expect(two.master.events.map(({ tag }) => tag)).toContain(`salt/job/${jid}/delivered/web1`)
  expect(await missed(two)).toEqual([])
  await exchange()
  expect(one.master.context.jobs.deliveries.state(jid, 'web1')).toBe('delivered')
  expect(await missed(one)).toEqual([])
  expect(two.master.context.publications.elsewhere.get(jid)).toBeUndefined()
})

test('a job that was cancelled, or delivered by the master that published it, is not delivered by the other', async () => {
  const cancelled = await publish()
  await one.master.context.jobs.deliveries.cancel(cancelled)
  const taken = await publish()
  await take(one, taken)
  await exchange()
  expect(await missed(two)).toEqual([])
  expect(await take(two, cancelled)).toEqual({})
  expect(await take(two, taken)).toEqual({})
})

test('a master answers nothing for an unknown job of another master, so that the minion asks again', async () => {
  expect(await take(two, '20261126000000000000')).toEqual({})
  expect(await take(two, '20261126000000000000', 'two')).toEqual({ state: 'unknown' })
})

test('no minion gets a job when its time is over, or that was published before its key was accepted', async () => {
  const jid = await publish()
  await two.master.file('web1', two.web1.key.publicKey)
  two.master.now += (HOUR + 1) * 1000
  await two.web1.signIn((frame) => two.master.answer(frame))
  expect(await take(two, jid)).toEqual({})
})

test('a job that another master delivered just before its time was over counts as delivered', async () => {
  const jid = await publish()
  expect(await take(two, jid)).toEqual({ state: 'delivered' })
  await one.master.context.jobs.deliveries.close(jid, 'expired')
  await exchange()
  expect(one.master.context.jobs.deliveries.state(jid, 'web1')).toBe('delivered')
  const { last } = store
  await exchange()
  expect(store.last).toBe(last)
})

test('a job of another master is kept for a day longer than its time, and then removed', async () => {
  const jid = await publish()
  two.master.now += 2 * HOUR * 1000
  await two.exchange()
  expect(two.master.context.publications.elsewhere.get(jid)).toBeDefined()
  two.master.now += 25 * HOUR * 1000
  await two.exchange()
  expect(two.master.context.publications.elsewhere.get(jid)).toBeUndefined()
})
