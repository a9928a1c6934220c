import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SaltError } from '../../../../core/base/errors.ts'
import { RunnerClient } from '../../../../core/client/functions/runner-client.ts'
import { LocalClient } from '../../../../core/client/local/local-client.ts'
import { createMasterServices } from '../../../../core/client/services/master-services.ts'
import { jobCacheDirectory } from '../../../../core/config/cachedir.ts'
import { loadMasterConfig, type MasterConfig } from '../../../../core/config/index.ts'
import { type Event, EventBus, EventPublisher, masterEventSockets } from '../../../../core/events/index.ts'
import { JobCache } from '../../../../core/jobs/job-cache.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'
import { fakeContext } from '../../modules/context.ts'

const own = `
import { CommandExecutionError, fn, p } from 'salt-ts'
export const shown = fn(() => ({ data: { a: 1 }, outputter: 'txt' }))
export const coded = fn(() => ({ retcode: 4 }))
export const sets = fn((_, context) => { context.retcode = 3; return 'x' })
export const refuses = fn(() => { throw new CommandExecutionError('It cannot be done.') })
export const breaks = fn(() => { throw new TypeError('broken', { cause: new Error('no such host') }) })
export const rows = fn(async function* () { yield 'a'; yield { b: 1 } })
export const turns = fn(() => { const value = { a: {} }; value.a.a = value.a; return value })
export const odd = fn(async function* () { yield { f: () => 1 } })
export const tells = fn(async (_, { master, job }) => { await master.progress({ message: 'half' }); return job.jid })
export const minion = fn((_, { minion }) => minion.running())
const untilAborted = ({ signal, master }) => new Promise((_, reject) => {
  signal.addEventListener('abort', () => reject(signal.reason))
  void master.progress({ message: 'ready' })
})
export const waits = fn((_, context) => untilAborted(context))
export const partly = fn((_, context) => untilAborted(context).catch(() => ['a']))
export const deaf = fn((_, { master }) => new Promise(() => void master.progress({ message: 'ready' })))
export const login = fn({ user: p.string(), password: p.secret(p.string()) }, ({ user }) => user)
export const fails = fn({ password: p.secret(p.string()) }, async ({ password }, { master }) => {
  await master.progress({ message: 'using ' + password })
  throw new Error('no login with ' + password)
})
`
const refused = `
import { fn, p } from 'salt-ts'
export const virtual = () => false
export const login = fn({ user: p.string(), password: p.secret(p.string()) }, ({ user }) => user)
`
const JID = '20261121000000000001'

let folder: string
let config: MasterConfig
let client: RunnerClient
let context: ReturnType<typeof fakeContext>

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-runner-')
  await mkdir(join(folder, 'mine', 'runners'), { recursive: true })
  await writeFile(join(folder, 'mine', 'runners', 'own.mjs'), own)
  await writeFile(join(folder, 'mine', 'runners', 'refused.mjs'), refused)
  const overrides = {
    root_dir: folder,
    cachedir: '/cache',
    sock_dir: '/run',
    module_dirs: [join(folder, 'mine')],
  }
  config = loadMasterConfig({ configDir: folder, overrides }).config
  await mkdir(config.sock_dir, { recursive: true })
  context = fakeContext()
  client = new RunnerClient({ config, log: context.log, user: 'ann' })
})
afterEach(async () => {
  await client.close()
  await removeFolder(folder)
})

const openPublisher = () => EventPublisher.open({ ...masterEventSockets(config), maxEventSize: 1_048_576 })

const run = async (fun: string, args: unknown[] = [], kwargs = {}) => {
  const { jid, ...result } = await client.run(fun, args, kwargs)
  expect(jid).toMatch(/^\d{20}$/)
  return result
}

test('a runner that needs no master works without one', async () => {
  expect(await run('test.arg', [1], { a: 2 })).toEqual({
    return: { args: [1], kwargs: { a: 2 } },
    success: true,
    retcode: 0,
  })
  const cache = JobCache.open(jobCacheDirectory(config))
  await cache.saveLoad(JID, { fun: 'cmd.run', arg: ['ls'], tgt: '*' }, ['a'])
  await cache.saveReturn(JID, 'a', { return: 'done', retcode: 0 })
  await cache.close()
  expect((await run('jobs.lookup_jid', [JID])).return).toEqual({ a: 'done' })
  expect((await run('jobs.exit_success', [JID])).return).toEqual({ a: true })
  expect(Object.keys((await run('jobs.list_jobs')).return as object)).toEqual([JID])
})

test('looks up all jobs of a batch by the jid of the batch', async () => {
  const WAVE = '20261121000000000002'
  const cache = JobCache.open(jobCacheDirectory(config))
  const load = { fun: 'test.ping', tgt: '*', arg: [], user: 'ann' }
  await cache.create(JID, load, ['a'])
  await cache.saveReturn(JID, 'a', { return: 1 })
  await cache.create(WAVE, { ...load, metadata: { batch_jid: JID } }, ['b', 'c'])
  await cache.saveReturn(WAVE, 'b', { return: 2 })
  await cache.close()
  const missing = { c: expect.stringContaining('Minion did not return. [No accepted key]') }
  expect((await run('jobs.lookup_jid', [JID], { missing: true })).return).toEqual({
    a: 1,
    b: 2,
    ...missing,
  })
  expect((await run('jobs.list_job', [JID])).return).toMatchObject({
    Minions: ['a', 'b', 'c'],
    Waves: [WAVE],
  })
  expect((await run('jobs.exit_success', [JID])).return).toMatchObject({ c: false })
})

test('a runner that needs the master reports that it does not respond', async () => {
  expect(await run('event.send', ['a/b'])).toEqual({
    return: expect.stringContaining('The master is not responding'),
    success: false,
    retcode: 1,
    failure: 'MASTER_UNREACHABLE',
  })
})

test('a runner can return an outputter, or an exit code, with its result', async () => {
  expect(await run('own.shown')).toEqual({ return: { a: 1 }, success: true, retcode: 0, outputter: 'txt' })
  expect(await run('own.coded')).toEqual({ return: { retcode: 4 }, success: false, retcode: 4 })
  expect(await run('own.sets')).toEqual({ return: 'x', success: false, retcode: 3 })
})

test('a failure is a sentence, and has a stack only if it is unexpected', SLOW, async () => {
  const failure = (text: unknown, code?: string) => ({
    return: text,
    success: false,
    retcode: 1,
    ...(code && { failure: code }),
  })
  expect(await run('own.refuses')).toEqual(failure('It cannot be done.', 'COMMAND_EXECUTION'))
  expect(await run('own.breaks')).toEqual(
    failure(
      expect.stringMatching(
        /^Exception occurred in runner own\.breaks: TypeError: broken\n +at [\s\S]+\nCaused by: Error: no such host\n/,
      ),
    ),
  )
  expect(await run('own.turns')).toEqual(
    failure('The value cannot be encoded: return.a.a is circular.', 'ENCODE_FAILED'),
  )
  expect(await run('own.odd')).toEqual(
    failure('The value cannot be encoded: rows[0].f is a function.', 'ENCODE_FAILED'),
  )
  expect(await run('own.minion')).toEqual(failure(expect.stringContaining('this is a runner'), 'INVOCATION'))
  expect(await run('no.such')).toEqual(failure("'no.such' is not available.", 'CALL_REFUSED'))
  expect(await run('test.sleep', ['x'])).toEqual(
    failure(expect.stringContaining('must be a number'), 'CALL_REFUSED'),
  )
})

test('events report the start and the end of a run', SLOW, async () => {
  const publisher = await openPublisher()
  const bus = await EventBus.connect(masterEventSockets(config))
  const seen: Event[] = []
  const stream = bus.subscribe('salt/run/')
  await run('test.arg', [1])
  await run('no.such')
  for await (const event of stream) if (seen.push(event) === 3) break
  expect(seen.map(({ tag, data }) => [tag.replace(/\d{20}/, 'JID'), data.fun, data.success])).toEqual([
    ['salt/run/JID/new', 'runner.test.arg', undefined],
    ['salt/run/JID/ret', 'runner.test.arg', true],
    ['salt/run/JID/ret', 'no.such', false],
  ])
  expect(seen[1]?.data).toMatchObject({ user: 'ann', fun_args: [1], return: { args: [1], kwargs: {} } })
  await bus.close()
  await publisher.close()
})

test('the end of a runner that does not exist names its owner, as beginnings do', async () => {
  const publisher = await openPublisher()
  const bus = await EventBus.connect(masterEventSockets(config))
  const stream = bus.subscribe('salt/run/')
  const owner = 'eauth:pam:ann'
  const own = new RunnerClient({ config, log: context.log, user: 'ann', owner })
  await own.run('no.such', [], {}, { jid: JID })
  for await (const { tag, data } of stream) {
    expect([tag, data]).toMatchObject([`salt/run/${JID}/ret`, { success: false, owner }])
    break
  }
  await own.close()
  await bus.close()
  await publisher.close()
})

test('progress and rows of a runner are events, and are passed to the caller', async () => {
  const publisher = await openPublisher()
  const bus = await EventBus.connect(masterEventSockets(config))
  const stream = bus.subscribe('salt/run/')
  const told: unknown[] = []
  const options = { jid: JID, onProgress: (data: unknown) => told.push(data) }
  expect(await client.run('own.tells', [], {}, options)).toMatchObject({ jid: JID, return: JID })
  expect((await client.run('own.rows', [], {}, options)).return).toEqual(['a', { b: 1 }])
  expect(told).toEqual([{ message: 'half' }, { number: 0, return: 'a' }, { number: 1, return: { b: 1 } }])
  const seen: Event[] = []
  for await (const event of stream) if (seen.push(event) === 7) break
  const progress = seen.filter(({ tag }) => tag === `salt/run/${JID}/progress`)
  expect(progress.map(({ data: { _stamp, ...data } }) => data)).toEqual(told)
  await bus.close()
  await publisher.close()
})

test('a return is stored in the job cache on request', async () => {
  const other = '20261121000000000002'
  await client.run('own.coded', [], {}, { jid: JID, store: true })
  await client.run('test.arg', [], {}, { jid: other })
  const about = { jid: JID, fun: 'runner.own.coded', user: 'ann', fun_args: [] }
  expect((await run('jobs.lookup_jid', [JID])).return).toEqual({
    [config.id]: { ...about, return: { retcode: 4 }, success: false, retcode: 4 },
  })
  expect((await run('jobs.exit_success', [JID])).return).toEqual({ [config.id]: false })
  expect(await run('jobs.lookup_jid', [other])).toMatchObject({ success: false })
})

describe('a runner that is ended', () => {
  const killed = { return: 'runner own.waits was killed.', success: false, retcode: 1, failure: 'CANCELLED' }
  /** Tell it to end once it has begun. */
  const end = async (fun: string, reason: unknown) => {
    const stop = new AbortController()
    const options = { signal: stop.signal, onProgress: () => stop.abort(reason) }
    const { jid, ...result } = await client.run(fun, [], {}, options)
    return result
  }

  test('gets an aborted signal, and its return says why', async () => {
    expect(await end('own.waits', new SaltError('CANCELLED', killed.return))).toEqual(killed)
    expect((await end('own.waits', undefined)).return).toBe('runner own.waits was ended before it was done.')
  })

  test('has its result kept, unless an error is the reason, and counts as failed', async () => {
    const partly = await end('own.partly', new SaltError('CANCELLED', 'Killed.'))
    expect(partly).toEqual({ return: ['a'], success: false, retcode: 1 })
    expect((await end('own.partly', new Error('unseen'))).return).toMatch(
      /^Exception .* own\.partly: Error: unseen/,
    )
  })

  test('is abandoned if it does not stop', SLOW, async () => {
    expect(await end('own.deaf', new SaltError('CANCELLED', killed.return))).toEqual(killed)
  })

  test('is ended after runner_timeout', SLOW, async () => {
    const hasty = new RunnerClient({
      config: { ...config, runner_timeout: 1 },
      log: context.log,
      user: 'ann',
    })
    expect(await hasty.run('own.waits', [], {})).toMatchObject({
      return: 'runner own.waits was stopped because it ran longer than 1 s (runner_timeout).',
      success: false,
      failure: 'TIMEOUT',
    })
    await hasty.close()
  })
})

test('a name that is nearly right causes a suggestion of the right one', async () => {
  expect((await run('manage.statsu')).return).toBe(
    "'manage.statsu' is not available. Did you mean 'manage.status'?",
  )
  expect((await run('fileserver')).return).toMatch(
    /^'fileserver' is not a function\. It has: fileserver\.clear/,
  )
})

test('secret arguments of a runner are masked in its events, also if it is refused', SLOW, async () => {
  const publisher = await openPublisher()
  const bus = await EventBus.connect(masterEventSockets(config))
  const seen: Event[] = []
  const stream = bus.subscribe('salt/run/')
  expect((await run('own.login', ['ada', 'hunter2='])).return).toBe('ada')
  expect((await run('own.login', ['ada'], { password: 'hunter2' })).return).toBe('ada')
  await run('refused.login', ['a=b', 'hunter2'])
  for await (const event of stream) if (seen.push(event) === 5) break
  const masked = '**********'
  expect(seen.map(({ data }) => data.fun_args)).toEqual([
    ['ada', masked],
    ['ada', masked],
    ['ada', { password: masked }],
    ['ada', { password: masked }],
    ['a=b', masked],
  ])
  expect(JSON.stringify(seen)).not.toContain('hunter2')
  await bus.close()
  await publisher.close()
})

test('secret arguments are masked in the progress and the error of a runner', async () => {
  const publisher = await openPublisher()
  const bus = await EventBus.connect(masterEventSockets(config))
  const seen: Event[] = []
  const stream = bus.subscribe('salt/run/')
  expect((await run('own.fails', ['hunter2'])).return).toContain('Error: no login with **********')
  for await (const event of stream) if (seen.push(event) === 3) break
  expect(seen[1]?.data).toMatchObject({ message: 'using **********' })
  expect(JSON.stringify(seen)).not.toContain('hunter2')
  await bus.close()
  await publisher.close()
})

test('a subscription continues after an outage of the event bus, and reports that events were missed', async () => {
  let publisher = await openPublisher()
  const local = await LocalClient.connect(config)
  const { services } = createMasterServices({ config, log: context.log, client: async () => local })
  const stream = services.events('my/', new AbortController().signal)[Symbol.asyncIterator]()
  const heard = async (tag: string) => {
    const next = stream.next()
    await until('a reader', () => publisher.readers > 0)
    publisher.publish(tag, {})
    return (await next).value?.tag
  }
  expect(await heard('my/one')).toBe('my/one')
  await publisher.close()
  publisher = await openPublisher()
  expect(await heard('my/two')).toBe('my/two')
  expect(context.lines).toEqual([{ level: 'warn', message: expect.stringContaining('were missed') }])
  await local.close()
  await publisher.close()
})
