/** Batches that the master runs by itself: in waves, through restarts, each minion once. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { decode } from '../../core/codec/index.ts'
import { jobCacheDirectory } from '../../core/config/cachedir.ts'
import { tags } from '../../core/events/index.ts'
import { JobCache } from '../../core/jobs/job-cache.ts'
import { BatchRunner } from '../../core/master/batches/batch-runner.ts'
import { keysUnder, openStore } from '../../core/store/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { until } from '../harness/until.ts'

const MINIONS = ['m1', 'm2', 'm3', 'm4']

let cluster: InProcessCluster
beforeAll(async () => {
  cluster = await InProcessCluster.open({ transport: 'memory', minions: MINIONS })
})
afterAll(() => cluster?.close())

/** The time for batches: a test moves it, everything else takes as long as it takes. */
let now = Date.now()
let keeper: BatchRunner
let file: string
const keep = () => {
  keeper = new BatchRunner(cluster.master.context, { now: () => now })
}
beforeEach(async () => {
  keep()
  file = join(cluster.master.root, 'trace')
  await writeFile(file, '')
})

interface Reply {
  readonly load?: { readonly jid: string }
  readonly error?: { readonly name: string; readonly message: string }
}

async function publish(load: Record<string, unknown>): Promise<Reply> {
  const key = await cluster.master.rootKey()
  const whole = { cmd: 'publish', tgt: '*', fun: 'test.ping', arg: [], user: 'root', key, ...load }
  return decode(await cluster.master.answer(packClear(whole))) as unknown as Reply
}

async function start(batch: string, load: Record<string, unknown> = {}, extras = {}): Promise<string> {
  const reply = await publish({ ...load, kwargs: { batch, metadata: { for: 'ops' }, ...extras } })
  return String(reply.load?.jid)
}

const status = (jid: string) => cluster.master.context.jobs.batches.status(jid)!
/** Let the batches go on until it is so. */
const go = (what: string, check: () => unknown) =>
  until(
    () => `${what}; the batches are ${JSON.stringify([...cluster.master.context.jobs.batches.list()])}`,
    async () => {
      await keeper.advance()
      return Boolean(check())
    },
  )
const stop = (jid: string) => cluster.master.context.jobs.batches.stop(jid, 'Batch run stopped on request.')
const done = (jid: string) => go('the end of the batch', () => status(jid).phase === 'done')
/** Jobs that were published for a batch. */
function published(jid: string) {
  const jobs = cluster.master.published.map(({ job }) => ({ job, metadata: Object(job.metadata) }))
  const own = jobs.filter(({ metadata }) => metadata.batch_jid === jid)
  const [ping] = own.filter(({ job, metadata }) => metadata.ping_jid === job.jid)
  return { ping: String(ping?.job.jid), waves: own.flatMap((one) => (one === ping ? [] : [one.job])) }
}
const waves = (jid: string) => published(jid).waves
const told = (tag: string) =>
  cluster.master.events.filter((event) => event.tag === tag).map(({ data }) => data)

/** What each minion adds to a file when it begins and when it ends, so that it shows who ran, how often, beside whom. */
const traced = (seconds: number) => `echo + >> ${file}; sleep ${seconds}; echo - >> ${file}`

async function trace(): Promise<{ runs: number; most: number }> {
  const marks = (await readFile(file, 'utf8')).trim().split('\n')
  let [busy, most] = [0, 0]
  for (const mark of marks) {
    busy += mark === '+' ? 1 : -1
    most = Math.max(most, busy)
  }
  return { runs: marks.filter((mark) => mark === '+').length, most }
}

test('a batch runs on half of the minions at a time, on each once, and fires the start and done events of Salt', async () => {
  const jid = await start('50%', { fun: 'cmd.run', arg: [traced(0.1)] })
  await done(jid)
  const { runs, most } = await trace()
  expect([runs, waves(jid)[0]?.tgt]).toEqual([4, [expect.any(String), expect.any(String)]])
  expect(most).toBeLessThanOrEqual(2)
  const metadata = { for: 'ops', batch_jid: jid }
  const here = expect.arrayContaining(MINIONS)
  expect(told(tags.batchStart(jid))).toEqual([{ available_minions: here, down_minions: [], metadata }])
  expect(told(tags.batchDone(jid))).toEqual([
    { available_minions: here, down_minions: [], done_minions: here, timedout_minions: [], metadata },
  ])
  for (const job of waves(jid)) expect([job.tgt_type, job.jid === jid]).toEqual(['list', false])
})

test('a lookup of the jid of a batch shows all of its jobs', async () => {
  const jid = await start('1', { tgt: 'm[12]' })
  await done(jid)
  const { jobs } = cluster.master.context
  expect(jobs.load(jid)).toMatchObject({ load: { fun: 'test.ping' }, minions: ['m1', 'm2'] })
  expect(jobs.waves(jid)).toEqual(waves(jid).map((job) => job.jid))
  expect(
    jobs
      .waves(jid)
      .flatMap((wave) => [...jobs.returns(wave).keys()])
      .sort(),
  ).toEqual(['m1', 'm2'])
})

test('a minion that is down gets no job; one that comes up during the batch does', async () => {
  await cluster.stopMinion('m2')
  await cluster.stopMinion('m3')
  const jid = await start('1', { tgt: 'm[123]', fun: 'cmd.run', arg: ['sleep 0.5'] })
  await go('the ping', () => cluster.master.context.jobs.return(published(jid).ping, 'm1'))
  now += 10_000
  await go('the first wave', () => status(jid).minions.running)
  expect(told(tags.batchStart(jid))).toMatchObject([
    { available_minions: ['m1'], down_minions: ['m2', 'm3'] },
  ])
  await cluster.startMinion('m2')
  await cluster.master.context.jobs.saveReturn(published(jid).ping, 'm2', { return: true, fun: 'test.ping' })
  now += 3_000
  await done(jid)
  expect(status(jid).minions).toEqual({ done: ['m1', 'm2'], down: ['m3'] })
  await cluster.startMinion('m3')
})

test('with deliver_within, a minion that is down gets the job when it comes up, but not with a revoked key', async () => {
  await cluster.stopMinion('m2')
  await cluster.stopMinion('m3')
  const { context } = cluster.master
  const load = { tgt: 'm[123]', fun: 'cmd.run', arg: [`echo + >> ${file}`], deliver_within: 3_600 }
  const jid = await start('1', load)
  await go('the ping', () => context.jobs.return(published(jid).ping, 'm1'))
  now += 10_000
  await done(jid)
  expect(status(jid).minions).toEqual({ done: ['m1'], gone: ['m2', 'm3'] })
  const last = waves(jid).at(-1)
  expect(context.jobs.deliveries.takers(String(last?.jid))).toEqual(['m2', 'm3'])
  await context.jobs.deliveries.cancelFor(['m3'])
  await cluster.startMinion('m2')
  await cluster.returned(String(last?.jid), 'm2')
  await cluster.startMinion('m3')
  expect(await cluster.run('m3', 'test.ping')).toEqual({ m3: true })
  expect((await trace()).runs).toBe(2)
})

test('a minion that neither returns nor answers that it runs the job times out, and its place is filled', async () => {
  const jid = await start('1', { tgt: 'm[12]', fun: 'test.sleep', arg: [60] }, { gather_job_timeout: 3 })
  await go('the first wave', () => status(jid).minions.running)
  const [first = ''] = status(jid).minions.running!
  await cluster.stopMinion(first)
  now += 6_000 // timeout
  const about = () => cluster.master.context.jobs.waves(jid)
  const asked = () =>
    cluster.master.published.filter(
      ({ job }) => job.fun === 'saltutil.find_job' && about().includes(String(job.arg[0])),
    )
  await go('the question', () => asked().length === 1)
  now += 4_000 // gather_job_timeout
  await go('the next wave', () => status(jid).minions.gone)
  expect(status(jid).minions).toEqual({ gone: [first], running: [first === 'm1' ? 'm2' : 'm1'] })
  now += 6_000
  await go('the other is asked', () => asked().length === 2)
  now += 1_000
  await cluster.returned(String(asked()[1]?.job.jid), first === 'm1' ? 'm2' : 'm1')
  await keeper.advance()
  now += 5_500 // it says that it works: so it has its time again
  await keeper.advance()
  expect(status(jid).minions.running).toHaveLength(1)
  await cluster.run(first === 'm1' ? 'm2' : 'm1', 'saltutil.kill_all_jobs')
  await done(jid)
  await cluster.startMinion(first)
})

test('a minion that answers that it does not run the wave is asked again: the answer may have overtaken the return', async () => {
  const jid = await start('1', { tgt: 'm[12]', fun: 'test.sleep', arg: [60], timeout: 5 })
  const { jobs } = cluster.master.context
  await go('the first wave', () => status(jid).minions.running)
  const [first = ''] = status(jid).minions.running!
  await cluster.stopMinion(first)
  const deny = async (what: string) => {
    const about = waves(jid)[0]?.jid
    const known = cluster.master.published.length
    const question = () => cluster.master.published.slice(known).find(({ job }) => job.arg[0] === about)
    await go(what, question)
    await jobs.saveReturn(String(question()?.job.jid), first, { return: {}, fun: 'saltutil.find_job' })
    await keeper.advance()
  }
  now += 6_000 // timeout
  await deny('the question')
  expect(status(jid).minions).toEqual({ queued: [expect.any(String)], running: [first] })
  now += 1_000
  await deny('the question again')
  expect(status(jid).minions).toEqual({ gone: [first], running: [first === 'm1' ? 'm2' : 'm1'] })
  await cluster.run(first === 'm1' ? 'm2' : 'm1', 'saltutil.kill_all_jobs')
  await done(jid)
  await cluster.startMinion(first)
})

test.each([
  ['failhard', { failhard: true }, 'due to failhard', 1],
  ['a limit of failures', { batch_max_fail: '1' }, '2 minions failed or did not return; the limit is 1', 2],
])(
  '%s stops the batch, and its last event counts the minions that were not started',
  async (_, extras, why, ran) => {
    const jid = await start('1', { tgt: 'm[123]', fun: 'test.retcode', arg: [3] }, extras)
    await done(jid)
    expect(status(jid)).toMatchObject({ phase: 'done', halted: expect.stringContaining(why) })
    expect(status(jid).minions.failed).toHaveLength(ran)
    const [end] = told(tags.batchDone(jid))
    expect(end).toMatchObject({ stopped: expect.stringContaining(why) })
    expect(end?.pending_minions).toHaveLength(3 - ran)
  },
)

test('a batch that is stopped on request waits for running minions and starts no others', async () => {
  const jid = await start('1', { tgt: 'm[12]', fun: 'cmd.run', arg: ['sleep 0.1'] })
  await go('the first wave', () => status(jid).minions.running)
  expect(await stop(jid)).toBe(true)
  await done(jid)
  expect(status(jid).minions).toMatchObject({ done: [expect.any(String)], queued: [expect.any(String)] })
  expect(await stop(jid)).toBe(false)
})

test('after a restart of the master a batch continues where it was: each minion runs once, and none is left out', async () => {
  const jid = await start('1', { fun: 'cmd.run', arg: [traced(0.2)] })
  await go('a first return', () => status(jid).minions.done)
  const before = waves(jid).length
  await cluster.master.restart()
  keep()
  await done(jid)
  expect(waves(jid).length).toBeGreaterThan(before)
  expect(status(jid).minions.done?.toSorted()).toEqual(MINIONS)
  expect(await trace()).toEqual({ runs: 4, most: 1 })
  expect(told(tags.batchStart(jid))).toHaveLength(1)
})

test('a wave that was recorded and not published when the master died is published after all, once, under its jid', async () => {
  const jid = await start('1', { tgt: 'm[12]', fun: 'cmd.run', arg: [traced(0.1)] })
  const { context } = cluster.master
  const dying = new BatchRunner(
    {
      ...context,
      publish: async (...job) => {
        if (job[0].fun === 'cmd.run') throw new Error('killed')
        await context.publish(...job)
      },
    },
    { now: () => now },
  )
  await until('the lost wave', async () => !(await dying.advance()))
  const [lost = ''] = status(jid).minions.running!
  expect(waves(jid)).toEqual([])
  keep()
  await keeper.advance()
  now += 20_000 // minions have found back to the master
  await done(jid)
  expect(status(jid).minions.done?.toSorted()).toEqual(['m1', 'm2'])
  expect(await trace()).toEqual({ runs: 2, most: 1 })
  expect(waves(jid)[0]).toMatchObject({ tgt: [lost], jid: context.jobs.waves(jid)[0] })
})

test('a minion does not run a wave again that is published once more after a restart', async () => {
  const jid = await start('1', { tgt: 'm1', fun: 'cmd.run', arg: [traced(0.1)] })
  await go('the wave', () => status(jid).minions.running)
  const wave = cluster.master.context.jobs.waves(jid)[0]!
  await cluster.returned(wave, 'm1')
  await cluster.master.restart()
  keep()
  await cluster.master.context.publish(waves(jid)[0]!, ['m1'])
  await cluster.run('m1', 'test.ping')
  await done(jid)
  expect(await trace()).toEqual({ runs: 1, most: 1 })
})

test('an invalid batch is refused with a sentence, and an unauthorized one like any job', async () => {
  const refused = async (load: Record<string, unknown>) => (await publish(load)).error
  expect(await refused({ kwargs: { batch: '0%' } })).toEqual({
    name: 'SaltInvocationError',
    message: expect.stringContaining('Invalid batch data sent: 0%.'),
  })
  expect(await refused({ kwargs: { batch: '1', batch_max_fail: 'x' } })).toMatchObject({
    message: expect.stringContaining('x minions may fail'),
  })
  expect(await refused({ key: 'wrong', kwargs: { batch: '1' } })).toMatchObject({
    name: 'AuthenticationError',
  })
  expect(await publish({ tgt: 'nobody', kwargs: { batch: '1' } })).toMatchObject({ load: { jid: null } })
  expect(cluster.master.context.jobs.batches.open()).toEqual([])
})

test('a batch that a failure has stopped starts no minion after a restart either', async () => {
  const fails = `mkdir ${file}.first && { echo + >> ${file}; exit 1; }; echo + >> ${file}; sleep 1`
  const jid = await start('2', { fun: 'cmd.run', arg: [fails] }, { failhard: true })
  await go('the failure', () => status(jid).minions.failed)
  keep() // as after a restart: it goes by what is stored
  await done(jid)
  expect(status(jid)).toMatchObject({ halted: expect.stringContaining('due to failhard') })
  expect([status(jid).minions.queued?.length, (await trace()).runs]).toEqual([2, 2])
})

describe('a secret argument of a batch', () => {
  const SECRET = 'hunter2'
  const secret = (seconds: number) => {
    const command = `test $TOKEN = ${SECRET.slice(0, 3)}''${SECRET.slice(3)} && sleep ${seconds}`
    return { fun: 'cmd.retcode', arg: [command, { __kwarg__: true, env: { TOKEN: SECRET } }] }
  }
  const stored = (kind: string) => {
    const store = openStore(JobCache.path(jobCacheDirectory(cluster.master.config)))
    const entries = JSON.stringify([...store.entries(keysUnder(kind))])
    return store.close().then(() => entries.includes(SECRET))
  }
  const KINDS = ['job', 'ret', 'start', 'wave', 'member', 'batch-open', 'batch-stop', 'unannounced']

  /** Everything that people and programs are shown. */
  async function isShown(jid: string): Promise<boolean> {
    const { context, events, logged, config } = cluster.master
    const files = await readdir(join(config.cachedir, 'jobs'), { recursive: true, withFileTypes: true })
    const texts = files.flatMap((one) =>
      one.isFile() ? [readFile(join(one.parentPath, one.name), 'latin1')] : [],
    )
    const inJobFiles = (await Promise.all(texts)).some((text) => text.includes(SECRET))
    const batches = [status(jid), ...context.jobs.batches.list()]
    const inRecords = (await Promise.all(KINDS.map(stored))).includes(true)
    return (
      inJobFiles ||
      inRecords ||
      JSON.stringify([batches, [...context.jobs.list()], events, logged]).includes(SECRET)
    )
  }

  test('reaches each minion, and is shown nowhere, neither meanwhile nor afterwards', async () => {
    const jid = await start('1', { tgt: 'm[12]', ...secret(0.1) })
    await go('the first wave', () => status(jid).minions.running)
    expect([await stored('batch'), await isShown(jid)]).toEqual([true, false])
    await done(jid)
    expect(status(jid).minions.done?.toSorted()).toEqual(['m1', 'm2'])
    expect([await stored('batch'), await isShown(jid)]).toEqual([false, false])
  })

  test('is deleted once the batch is stopped, though a minion still runs, and no second wave is sent', async () => {
    const jid = await start('1', { tgt: 'm[12]', ...secret(0.5) })
    await go('the first wave', () => status(jid).minions.running)
    await stop(jid)
    expect([await stored('batch'), status(jid).minions.running?.length]).toEqual([false, 1])
    keep() // as after a restart: it goes by what is stored
    await done(jid)
    expect([waves(jid).length, status(jid).minions.done?.length]).toEqual([1, 1])
    expect(await isShown(jid)).toBe(false)
  })

  test('is kept while the batch runs, however old it is, and its job expires without it', async () => {
    const jid = await start('1', { tgt: 'm1', ...secret(0) })
    const { jobs } = cluster.master.context
    await jobs.expire(new Date(cluster.master.now + 1))
    expect(await stored('batch')).toBe(true)
    await done(jid)
    expect([await stored('batch'), jobs.batches.load(jid)]).toEqual([false, undefined])
    await jobs.expire(new Date(cluster.master.now + 1))
    expect([[...jobs.batches.list()], jobs.waves(jid)]).toEqual([[], []])
  })
})
