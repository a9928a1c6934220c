import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { untyped } from '../../core/author/calls.ts'
import type { AnyRequest, LocalClient } from '../../core/client/index.ts'
import { loadMinionConfig } from '../../core/config/index.ts'
import { type Event, EventBus, minionEventSockets } from '../../core/events/index.ts'
import { connectionsOf } from '../harness/connections.ts'
import { Cluster, type Daemon, run } from '../harness/daemons.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { runHere } from '../harness/run-here.ts'
import { until } from '../harness/until.ts'

const moduleText = `
/** A module somebody keeps in a folder of their own. */
import { fn, p } from 'salt-ts'

/** Greet. */
export const greet = fn({ name: p.default(p.string(), 'world') }, ({ name }) => \`hello \${name}\`)
`

let cluster: Cluster
let client: LocalClient
/** Jobs in processes of their own, one at a time. */
let one: Daemon
/** Jobs in the process of the minion; found out its id itself. */
let same: Daemon
const seen: Event[] = []

const id = hostname()
const job = (fun: AnyRequest['fun'], arg: readonly unknown[] = [], rest: Partial<AnyRequest> = {}) =>
  returnsOf(client, { tgt: 'one', fun, arg, timeout: 20, ...rest })
const started = (fun: string, arg: readonly unknown[] = [], tgt = 'one') =>
  client.runJob({ tgt, fun: untyped(fun), arg })
const returnOf = async (jid: string, from = 'one') =>
  (await until(`the return of ${jid}`, () => seen.find(({ tag }) => tag === `salt/job/${jid}/ret/${from}`)))
    .data
const call = (...args: string[]) => runHere('salt-call', ['-c', one.directory, ...args])
const byGrain = async (tgt: string) =>
  Object.keys(await job('test.ping', [], { tgt, tgtType: 'grain' })).sort()

beforeAll(async () => {
  cluster = await Cluster.open({ master: { drop_messages_signature_fail: true } })
  const bus = await cluster.events()
  void (async () => {
    for await (const each of bus.subscribe('')) seen.push(each)
  })()
  client = await cluster.client()
  const folder = join(cluster.root, 'own', 'modules')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'hello.js'), moduleText)
  one = cluster.minionDaemon('one', {
    grains: { role: 'web', rack: { row: 7 } },
    grains_blacklist: ['shell', 'path*'],
    module_dirs: [join(cluster.root, 'own')],
    disable_modules: ['match'],
    process_count_max: 1,
    cache_jobs: true,
    multifunc_ordered: true,
    start_event_grains: ['role', 'nosuch'],
    enable_legacy_startup_events: false,
    startup_states: 'highstate',
    tcp_keepalive: false,
    auth_timeout: 2,
    auth_tries: 2,
    minion_sign_messages: true,
  })
  cluster.minions.set('one', one)
  await one.writeConfig()
  await writeFile(join(one.directory, 'grains'), 'floor: 3\n')
  one.start()
  same = await cluster.startMinion('same', {
    id: undefined,
    multiprocessing: false,
    tcp_keepalive_idle: 20,
    tcp_keepalive_cnt: 3,
    tcp_keepalive_intvl: 5,
  })
  await one.logged('is ready to receive jobs')
  await same.logged('is ready to receive jobs')
})
afterAll(async () => {
  await client?.close()
  await cluster?.close()
})

test('a generated id is kept beside the configuration', async () => {
  expect(await readFile(join(same.directory, 'minion_id'), 'utf8')).toMatch(new RegExp(`^${id}`))
})

test('the system probes idle connections as often as the tcp_keepalive options say, or not at all', async () => {
  const toMaster = (minion: Daemon) =>
    connectionsOf(minion.pid).filter(({ remotePort }) => Object.values(cluster.ports).includes(remotePort))
  await until('connections that are probed', () => {
    const found = toMaster(same)
    return found.length >= 2 && found.every(({ probedIn = 0 }) => probedIn > 0 && probedIn <= 20)
  })
  await until('connections that are not', () => {
    const found = toMaster(one)
    return found.length >= 2 && found.every(({ probedIn }) => probedIn === undefined)
  })
})

test('start events carry start_event_grains, and the old form is fired only if it is enabled', async () => {
  const own = await readFile(join(same.directory, 'minion_id'), 'utf8')
  const starts = await until('the events of both', () => {
    const found = seen.filter(({ tag }) => /^minion_start$|\/start$/.test(tag))
    return found.filter(({ tag }) => tag !== 'minion_start').length === 2 && found
  })
  expect(starts.find(({ tag }) => tag === 'salt/minion/one/start')?.data).toMatchObject({
    id: 'one',
    grains: { role: 'web' },
  })
  expect(starts.filter(({ tag }) => tag === 'minion_start').map(({ data }) => data.id)).toEqual([own])
  expect(one.output).toContain('The option startup_states is ignored')
})

test('grains come from the configuration and from the file beside it, except those in the blacklist', async () => {
  const { one: grains } = (await job('grains.items')) as { one: Record<string, unknown> }
  expect(grains).toMatchObject({ role: 'web', floor: 3, id: 'one', kernel: 'Linux' })
  expect(Object.keys(grains)).not.toContain('shell')
  expect(await byGrain('role:web')).toEqual(['one'])
  expect(await byGrain('rack:row:7')).toEqual(['one'])
  expect(await byGrain('floor:3')).toEqual(['one'])
})

test('grains.setval is permanent and reaches the master, from a job and from salt-call', async () => {
  expect(await job('grains.setval', ['stage', 'test'])).toEqual({ one: { stage: 'test' } })
  expect(await byGrain('stage:test')).toEqual(['one'])
  expect((await call('grains.setval', 'stage', 'live')).code).toBe(0)
  await until('the master to know', async () => (await byGrain('stage:live').catch(() => [])).length === 1)
  expect(await readFile(join(one.directory, 'grains'), 'utf8')).toContain('stage: live')
  await writeFile(join(one.directory, 'grains'), 'floor: 4\n')
  expect(await job('saltutil.refresh_grains')).toEqual({ one: true })
  expect(await byGrain('floor:4')).toEqual(['one'])
})

test('module_dirs adds functions, disable_modules removes some', async () => {
  expect(await job('hello.greet', [], { kwarg: { name: 'you' } })).toEqual({ one: 'hello you' })
  expect(await job('match.glob', ['*'], { check: false })).toEqual({
    one: expect.stringContaining('match is disabled: it is listed in disable_modules'),
  })
  const { stdout } = await run('salt-call', ['-c', one.directory, '--local', 'hello.greet', '--out', 'json'])
  expect(JSON.parse(stdout)).toEqual({ local: 'hello world' })
})

test('several functions make one job; their returns are a list with multifunc_ordered, else a map', async () => {
  const several = { fun: ['test.echo', 'test.arg'], arg: [['a'], [1, { __kwarg__: true, b: 2 }]] }
  const answers = await job(several.fun, several.arg, { tgt: '*' })
  const shown = { args: [1], kwargs: expect.objectContaining({ b: 2 }) }
  const own = Object.keys(answers).find((name) => name !== 'one') as string
  expect(answers.one).toEqual(['a', shown])
  expect(answers[own]).toEqual({ 'test.echo': 'a', 'test.arg': shown })
})

test('with process_count_max jobs wait for their turn, are listed as running, and none is lost', async () => {
  const jobs = []
  for (const word of ['a', 'b', 'c']) jobs.push(await started('cmd.run', [`sleep 1; echo ${word}`]))
  const [first, second, third] = jobs.map(({ jid }) => jid) as [string, string, string]
  const running = await until('all three', async () => {
    const { one: list } = (await job('saltutil.running')) as {
      one: { jid: string; pid?: number; state?: string; arg: unknown[] }[]
    }
    return list.length === 3 && list.some(({ pid }) => pid) && list
  })
  expect(running.map(({ jid }) => jid).sort()).toEqual([first, second, third].sort())
  const queued = running.filter(({ state }) => state === 'queued')
  expect(queued.length).toBeGreaterThanOrEqual(1)
  expect(queued.map(({ arg }) => arg)).toEqual(queued.map(() => [])) // nobody knows yet which are secret
  expect(await job('saltutil.find_job', [third])).toEqual({ one: expect.objectContaining({ jid: third }) })
  expect(await job('saltutil.kill_job', [third])).toEqual({
    one: expect.stringMatching(/will not run|Signal 9 sent/),
  })
  expect(await returnOf(first)).toMatchObject({ return: 'a', retcode: 0 })
  expect(await returnOf(second)).toMatchObject({ return: 'b', retcode: 0 })
  expect(await returnOf(third)).toMatchObject({ return: expect.stringContaining('SIGKILL'), success: false })
})

test('jobs can be terminated with all processes they started; a job that does not run is reported as such', async () => {
  const { jid } = await started('cmd.run', ['sleep 77 & sleep 77'])
  await until('it to run', async () => {
    const { one: list } = (await job('saltutil.is_running', ['cmd.*'])) as { one: { pid?: number }[] }
    return list.some(({ pid }) => pid)
  })
  expect(await job('saltutil.term_all_jobs')).toEqual({
    one: [expect.stringContaining('Signal 15 sent to job')],
  })
  expect(await returnOf(jid)).toMatchObject({ success: false })
  expect(await job('saltutil.find_job', [jid])).toEqual({ one: {} })
  expect(await job('saltutil.kill_job', [jid])).toEqual({ one: '' })
  expect(await job('cmd.run', ["pgrep -fx 'sleep 77' | wc -l"])).toEqual({ one: '0' })
})

test('a secret argument is not shown while the job runs or when it is killed', async () => {
  const { jid } = await started('cmd.run', ['sleep 60', { __kwarg__: true, env: { WORD: 'hunter2' } }])
  await until('it to run', async () => {
    const { one: found } = (await job('saltutil.find_job', [jid])) as { one: { pid?: number } }
    return found.pid
  })
  const listed = await until('its arguments to be masked', async () => {
    const text = JSON.stringify(await job('saltutil.running'))
    return text.includes('**********') && text
  })
  expect(listed).not.toContain('hunter2')
  await job('saltutil.kill_job', [jid])
  expect(await returnOf(jid)).toMatchObject({
    success: false,
    fun_args: ['sleep 60', { env: '**********' }],
  })
  const said = [seen.filter(({ tag }) => tag.includes(jid)), one.output, cluster.master.output]
  expect(JSON.stringify(said)).not.toContain('hunter2')
})

test('with cache_jobs returns stay on the minion until they are cleared', async () => {
  const { jid } = await started('test.echo', ['kept'])
  await returnOf(jid)
  expect(await job('saltutil.find_cached_job', [jid])).toEqual({
    one: expect.objectContaining({ jid, return: 'kept' }),
  })
  expect(await job('saltutil.clear_job_cache', [24])).toEqual({ one: true })
  expect(await job('saltutil.find_cached_job', [jid])).toMatchObject({ one: { return: 'kept' } })
  expect(await job('saltutil.clear_cache')).toEqual({ one: true })
  expect(await job('saltutil.find_cached_job', [jid])).toEqual({
    one: 'Local jobs cache directory not found; you may need to enable cache_jobs on this minion',
  })
})

test('without multiprocessing jobs run in the process of the minion, and end when they are terminated', async () => {
  const own = await readFile(join(same.directory, 'minion_id'), 'utf8')
  const answer = await returnsOf(client, { tgt: own, fun: 'cmd.run', arg: ['echo $PPID'], timeout: 20 })
  expect(answer).toEqual({ [own]: String(same.pid) })
  expect(same.processes().filter(({ command }) => command.includes('JobProcess'))).toEqual([])
  const { jid } = await started('test.sleep', [60], own)
  await until('it to run', async () => {
    const found = await returnsOf(client, { tgt: own, fun: 'saltutil.find_job', arg: [jid], timeout: 20 })
    return (found[own] as { pid?: number }).pid === same.pid
  })
  await returnsOf(client, { tgt: own, fun: 'saltutil.term_job', arg: [jid], timeout: 20 })
  expect(await returnOf(jid, own)).toMatchObject({
    return: expect.stringContaining('SIGTERM'),
    success: false,
  })
})

test('events are fired on the bus of the master or of the minion', async () => {
  const { config } = loadMinionConfig({ configDir: one.directory })
  const bus = await EventBus.connect(minionEventSockets(config, config.id))
  const heard: Event[] = []
  void (async () => {
    for await (const each of bus.subscribe('my/')) heard.push(each)
  })()
  expect(await job('event.fire', [{ a: 1 }, 'my/local'])).toEqual({ one: true })
  expect((await call('event.fire', '{a: 2}', 'my/local')).stdout).toContain('True')
  expect(await job('event.fire_master', [{ a: 3 }, 'my/master'])).toEqual({ one: true })
  expect(await job('event.send', ['my/sent'], { kwarg: { a: 4 } })).toEqual({ one: true })
  await until('both local events', () => heard.length === 2)
  expect(heard.map(({ data }) => data.a)).toEqual([1, 2])
  const told = await until('both events of the master', () => {
    const found = seen.filter(({ tag }) => tag.startsWith('my/'))
    return found.length === 2 && found
  })
  expect(told.map(({ tag, data }) => [tag, data.id, (data.data as { a: number }).a])).toEqual([
    ['my/master', 'one', 3],
    ['my/sent', 'one', 4],
  ])
  await bus.close()
})

test('salt-call sends its return to the master, sees the jobs of the minion, and has the right exit code', async () => {
  const done = await call('test.echo', 'from here', '--out', 'json')
  expect([JSON.parse(done.stdout), done.code]).toEqual([{ local: 'from here' }, 0])
  const { data } = await until('the event of the return', () =>
    seen.find(({ tag, data }) => tag.includes('/ret/one') && data.return === 'from here'),
  )
  expect(data).toMatchObject({ fun: 'test.echo', fun_args: ['from here'], id: 'one' })
  const looked = await cluster.command('salt-run', 'jobs.lookup_jid', String(data.jid), '--out', 'json')
  expect(JSON.parse(looked.stdout)).toEqual({ one: 'from here' })

  const { jid } = await started('test.sleep', [60])
  await until('it to be seen', async () => (await call('--local', 'saltutil.running')).stdout.includes(jid))
  await job('saltutil.kill_job', [jid])

  expect((await call('--local', 'cmd.run', 'exit 3')).code).toBe(1)
  expect((await call('--local', '--retcode-passthrough', 'cmd.run', 'exit 3')).code).toBe(3)
  expect((await call('--local', 'nosuch.function')).code).not.toBe(0)
})

test('salt-call gives up waiting for a master that is down, and runs nothing then', async () => {
  const away = await call('--master', '127.0.0.1:1', 'test.ping')
  expect(away.code).not.toBe(0)
  expect(away.stderr).toContain('2 sign-ins were not answered within 2 seconds each')
  expect(away.stdout).toBe('')
})

test('saltutil.revoke_auth deletes the key on the master; with auto_accept the minion is accepted as a new one', async () => {
  const before = seen.length
  expect(await job('saltutil.revoke_auth')).toEqual({ one: true })
  const since = () => seen.slice(before).filter(({ data }) => data.id === 'one')
  await until('the new sign-in', () => since().some(({ tag }) => tag === 'salt/auth'))
  expect(since().find(({ tag }) => tag === 'salt/key')?.data).toMatchObject({ act: 'delete', result: true })
  await cluster.master.logged('a minion key was deleted or rejected')
})
