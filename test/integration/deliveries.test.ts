/** Jobs that wait for minions that are down (`deliver_within`): how a master stores and delivers them. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { decode } from '../../core/codec/index.ts'
import { DeliveryKeeper } from '../../core/master/worker/delivery-keeper.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { readMissedJobsReply } from '../../core/wire/missed-jobs.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'
import { until } from '../harness/until.ts'

let master: InProcessMaster
let web1: Peer
let web2: Peer
let keeper: DeliveryKeeper
const ask = (frame: Uint8Array) => master.answer(frame)

const HOUR = 3_600

beforeEach(async () => {
  master = await InProcessMaster.open()
  keeper = new DeliveryKeeper(master.context)
  web1 = await Peer.named('web1')
  web2 = await Peer.named('web2')
  for (const peer of [web1, web2]) {
    await master.file(peer.id, peer.key.publicKey)
    await peer.signIn(ask)
  }
})
afterEach(() => master.close())

async function send(load: Record<string, unknown>): Promise<Record<string, unknown>> {
  const key = await master.rootKey()
  const whole = { cmd: 'publish', tgt: '*', fun: 'test.echo', arg: [], user: 'root', key, ...load }
  return decode(await ask(packClear(whole))) as Record<string, unknown>
}

async function publish(load: Record<string, unknown> = {}): Promise<string> {
  const { load: reply } = await send({ deliver_within: HOUR, ...load })
  return String((reply as { jid: string }).jid)
}

async function request(peer: Peer, load: Record<string, unknown>): Promise<unknown> {
  const sealed = peer.seal(load)
  return sealed.open(await ask(sealed.frame))
}

const missed = async (peer: Peer) =>
  readMissedJobsReply(await request(peer, { cmd: '_missed_jobs' })).jobs.map(({ job }) => job)
const take = (peer: Peer, jid: string) => request(peer, { cmd: '_take_job', jid })
const announced = (jid: string) =>
  master.events
    .map(({ tag }) => tag)
    .filter((tag) => /\/(?:delivered|expired|cancelled)\//.test(tag) && tag.includes(jid))

/** Hours later, with a session that is still valid. */
async function later(seconds: number): Promise<void> {
  master.now += seconds * 1000
  await Promise.all([web1, web2].map((peer) => peer.signIn(ask)))
}

test('a job waits for minions that are down, and the reply and the event list them', async () => {
  const reply = await send({ deliver_within: HOUR, arg: ['password=geheim'] })
  const until = master.now / 1000 + HOUR
  expect(reply.load).toMatchObject({
    minions: ['web1', 'web2'],
    deliver_until: until,
    waiting: ['web1', 'web2'],
  })
  const jid = String((reply.load as { jid: string }).jid)
  expect(master.events.find(({ tag }) => tag === `salt/job/${jid}/new`)?.data).toMatchObject({
    deliver_until: until,
    waiting: ['web1', 'web2'],
  })
  await later(HOUR - 60)
  const [job] = await missed(web1)
  expect(job).toMatchObject({ jid, arg: ['password=geheim'], deliver_until: until })
})

test('the minions of a target by grain are determined when the job is published', async () => {
  const { minions } = master.context
  await minions.save('web1', { grains: { role: 'web' }, pillar: {} })
  await minions.save('web2', { grains: { role: 'db' }, pillar: {} })
  const jid = await publish({ tgt: 'role:web', tgt_type: 'grain' })
  await minions.save('web1', { grains: { role: 'db' }, pillar: {} })
  await minions.save('web2', { grains: { role: 'web' }, pillar: {} })
  expect(await missed(web1)).toMatchObject([{ jid, tgt: ['web1'], tgt_type: 'list' }])
  expect(await missed(web2)).toEqual([])
})

test('a minion that has taken a job is not given it again, and takes it once more after a crash', async () => {
  const jid = await publish()
  expect(await take(web1, jid)).toEqual({ state: 'delivered' })
  expect(await missed(web1)).toEqual([])
  await master.restart()
  await web1.signIn(ask)
  expect(await take(web1, jid)).toEqual({ state: 'delivered' })
  expect(announced(jid)).toEqual([`salt/job/${jid}/delivered/web1`])
  await web2.signIn(ask)
  expect(await missed(web2)).toHaveLength(1)
})

test('a minion that has returned a job may not run it again', async () => {
  const jid = await publish()
  await take(web1, jid)
  const ret = { cmd: '_return', jid, return: 'x', retcode: 0, success: true, fun: 'test.echo', fun_args: [] }
  await request(web1, ret)
  expect(await take(web1, jid)).toEqual({ state: 'returned' })
})

test('a job whose time is over expires: no minion gets it, and what was stored of it is removed', async () => {
  const jid = await publish()
  await take(web1, jid)
  await later(HOUR + 1)
  expect(await take(web2, jid)).toEqual({ state: 'expired' })
  await keeper.update()
  expect(announced(jid)).toEqual([`salt/job/${jid}/delivered/web1`, `salt/job/${jid}/expired/web2`])
  expect(await missed(web2)).toEqual([])
  expect(await take(web2, jid)).toEqual({ state: 'expired' })
  expect([...master.context.publications.waiting()]).toEqual([])
})

test('what was stored of a job is removed once the last minion has taken it', async () => {
  const jid = await publish()
  await take(web1, jid)
  expect([...master.context.publications.waiting()]).toEqual([jid])
  await take(web2, jid)
  expect([...master.context.publications.waiting()]).toEqual([])
  expect(master.context.jobs.deliveries.list()).toEqual([])
})

test('a cancelled job is neither given nor allowed to begin, even on a minion that has received it', async () => {
  const jid = await publish()
  expect(await missed(web1)).toHaveLength(1)
  const { deliveries } = master.context.jobs
  await take(web2, jid)
  expect(await deliveries.cancel(jid)).toEqual(['web1'])
  expect(await take(web1, jid)).toEqual({ state: 'cancelled' })
  expect(await missed(web1)).toEqual([])
  expect(await take(web2, jid)).toEqual({ state: 'delivered' })
  await keeper.update()
  await keeper.update()
  expect(announced(jid)).toEqual([`salt/job/${jid}/delivered/web2`, `salt/job/${jid}/cancelled/web1`])
})

test('a job whose published form is lost is cancelled, and the log says why', async () => {
  const jid = await publish()
  await master.context.publications.remove(jid)
  await keeper.update()
  await later(61)
  await keeper.update()
  expect(announced(jid)).toHaveLength(2)
  expect(master.logged.join('\n')).toContain(`Job ${jid} is cancelled where it waits`)
})

test('what is stored of a job that is no longer in the job cache is removed', async () => {
  await publish()
  await master.context.jobs.expire(new Date(master.now + 1))
  await keeper.update()
  await later(61)
  await keeper.update()
  expect([...master.context.publications.waiting()]).toEqual([])
})

test('a job that a minion returned without having taken it, as with a full disk, does not expire', async () => {
  const jid = await publish({ tgt: 'web1' })
  const ret = { cmd: '_return', jid, return: 'x', retcode: 1, success: false, fun: 'test.echo', fun_args: [] }
  await request(web1, ret)
  await later(HOUR + 1)
  await keeper.update()
  expect([announced(jid), master.context.jobs.deliveries.list()]).toEqual([[], []])
})

test('jobs for a minion whose key is revoked are dropped, and a new minion with its id does not get them', async () => {
  const jid = await publish()
  await master.context.jobs.deliveries.cancelFor(['web1'])
  expect([await missed(web1), await take(web1, jid)]).toEqual([[], { state: 'cancelled' }])
  expect(await missed(web2)).toHaveLength(1)
})

test('a minion cannot take a job of another minion, or one that does not wait', async () => {
  const forWeb2 = await publish({ tgt: 'web2' })
  const plain = await publish({ deliver_within: 0 })
  expect(await take(web1, forWeb2)).toEqual({ state: 'unknown' })
  expect(await take(web1, plain)).toEqual({ state: 'unknown' })
  expect(await request(web1, { cmd: '_take_job' })).toEqual({})
  for (const jid of [['x'], 'a\0b', 'x'.repeat(64)])
    expect(await request(web1, { cmd: '_take_job', jid })).toEqual({})
})

test('no job waits for a minion of Python Salt', async () => {
  await master.context.minions.save('web2', { grains: { pythonversion: [3, 11, 2] }, pillar: {} })
  const reply = await send({ deliver_within: HOUR })
  expect(reply.load).toMatchObject({ minions: ['web1', 'web2'], waiting: ['web1'] })
  const { jid } = reply.load as { jid: string }
  expect(master.context.jobs.deliveries.takers(jid)).toEqual(['web1'])
  expect(await take(web2, jid)).toEqual({ state: 'delivered' }) // it is one of salt-ts now, and was sent the job
})

test('where generation 2 is accepted, no job waits for a minion that has never reported a start', async () => {
  await master.close()
  master = await InProcessMaster.open({ options: { minimum_auth_version: 2 } })
  for (const { id, key } of [web1, web2]) await master.file(id, key.publicKey)
  const reply = await send({ deliver_within: HOUR })
  expect(reply.load).toMatchObject({ minions: ['web1', 'web2'], waiting: [] })
})

test.each([-1, 0.5, '2h', 1e9])(
  'deliver_within is refused where it is invalid: %j',
  async (deliver_within) => {
    const { error } = (await send({ deliver_within })) as { error: { message: string } }
    expect(error.message).toBe(
      'deliver_within must be a number of seconds from 1 to 2592000 (30 days). Nothing was published.',
    )
  },
)

test('a plan says what would be refused', async () => {
  const { error } = (await send({ cmd: '_plan', deliver_within: 2 * 86_400 })) as {
    error: { message: string }
  }
  expect(error.message).toContain('deliver_within is 172800 seconds, but this master keeps jobs for 86400.')
  expect((await send({ cmd: '_plan', deliver_within: HOUR })).load).toMatchObject({ plan: { allowed: true } })
})

test('no more than 1,000 jobs wait, including those of batches, whose waves are published later', async () => {
  const { publications } = master.context
  const job = { fun: 'test.echo', arg: [], tgt: '*', tgt_type: 'glob', ret: '', deliver_until: 1 }
  const jids = Array.from({ length: 1_000 }, (_, index) => String(20261124000000000000n + BigInt(index)))
  await Promise.all(jids.map((jid) => publications.put({ ...job, jid })))
  const full = '1000 jobs wait for minions already, which is the most.'
  await expect(publications.put({ ...job, jid: '20261124000000001000' })).rejects.toThrow(full)
  await publications.put({ ...job, jid: jids[0] as string }) // sent again
  const { error } = (await send({ deliver_within: HOUR })) as { error: { message: string } }
  expect(error.message).toContain(full)
})

test('deliver_within is refused if it is longer than jobs are kept', async () => {
  const { error } = (await send({ deliver_within: 2 * 86_400 })) as { error: { message: string } }
  expect(error.message).toContain('deliver_within is 172800 seconds, but this master keeps jobs for 86400.')
})

test('deliver_within is refused where no jobs are stored', async () => {
  await master.close()
  master = await InProcessMaster.open({ options: { job_cache: false } })
  await master.file(web1.id, web1.key.publicKey)
  const { error } = (await send({ deliver_within: 60 })) as { error: { message: string } }
  expect(error.message).toContain('deliver_within needs the job cache')
})

test('a minion does not run what its master refuses, also after its own restart', async () => {
  const cluster = await InProcessCluster.open({ minions: ['web1'], transport: 'memory' })
  const jid = cluster.master.context.nextJid()
  const job = { fun: 'test.echo', arg: ['x'], tgt: '*', tgt_type: 'glob', ret: '', jid }
  await cluster.master.context.publish({ ...job, deliver_until: 2e9 })
  const refusal = `Job ${jid} is not run. State of the job on the master: unknown.`
  const refused = () => cluster.logged('web1').filter((line) => line.includes(refusal)).length
  await until('the refusal', () => refused() === 1)
  await cluster.stopMinion('web1')
  await cluster.startMinion('web1')
  expect(await cluster.run('web1', 'test.echo', ['y'])).toEqual({ web1: 'y' })
  expect(refused()).toBe(0) // in the log of the new run
  expect(cluster.master.context.jobs.return(jid, 'web1')).toBeUndefined()
  await cluster.close()
})

test('a minion that ended before it was allowed to begin a job takes the job when it runs again', async () => {
  const cluster = await InProcessCluster.open({ minions: ['web1'], transport: 'memory' })
  const { deliveries } = cluster.master.context.jobs
  const take = vi.spyOn(deliveries, 'take').mockRejectedValue(new Error('not now'))
  const load = { cmd: 'publish', tgt: '*', fun: 'test.echo', arg: ['x'], user: 'root', deliver_within: 60 }
  const key = await cluster.master.rootKey()
  const reply = decode(await cluster.master.answer(packClear({ ...load, key }))) as { load: { jid: string } }
  const { jid } = reply.load
  await until('the minion to ask', () => take.mock.calls.length > 0)
  await cluster.stopMinion('web1')
  take.mockRestore()
  await cluster.startMinion('web1')
  await cluster.returned(jid, 'web1')
  expect(deliveries.state(jid, 'web1')).toBe('delivered')
  await cluster.close()
})
