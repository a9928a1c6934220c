/** `runner` and `wheel` over the request port: authorization, the function that runs, and the answer. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decode } from '../../core/codec/index.ts'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { runFunctionHandlers } from '../../core/master/handlers/run-function.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { until } from '../harness/until.ts'

let master: InProcessMaster
let key: string
beforeEach(async () => {
  master = await InProcessMaster.open({
    options: { publisher_acl: { ann: ['.*'], eve: ['@test', '@jobs'] } },
  })
  key = await master.rootKey()
})
afterEach(() => master.close())

const clear = async (load: object): Promise<Record<string, unknown>> =>
  decode(await master.answer(packClear(load as Record<string, unknown>))) as Record<string, unknown>

const stored = (jid: unknown) =>
  until('the return of the runner', () => master.context.jobs.return(String(jid), master.config.id))

test('a runner is answered when it has begun, and its result is in the job cache', async () => {
  // As RunnerClient of Python Salt sends it.
  const kwarg = { arg: [1, 'two'], kwarg: { three: 3 } }
  const { tag, jid } = await clear({ cmd: 'runner', fun: 'test.arg', user: 'root', key, kwarg })
  expect([tag, jid]).toEqual([`salt/run/${jid}`, expect.stringMatching(/^\d{20}$/)])
  expect((await stored(jid)).return).toEqual({
    jid,
    fun: 'runner.test.arg',
    user: 'root',
    fun_args: [1, 'two', { three: 3 }],
    return: { args: [1, 'two'], kwargs: { three: 3 } },
    success: true,
  })
  expect(master.context.jobs.load(String(jid))).toMatchObject({
    load: { fun: 'runner.test.arg', user: 'root' },
    minions: [master.config.id],
  })
})

test('the reason why a runner does not exist is in the job cache', async () => {
  const { jid } = await clear({ cmd: 'runner', fun: 'no.such', user: 'root', key })
  expect((await stored(jid)).return).toMatchObject({
    fun: 'runner.no.such',
    return: expect.stringContaining("'no.such' is not available."),
    success: false,
  })
})

test('a map in kwarg is keywords, with an array arg among them; sudo acts for the user of the master', async () => {
  const load = { cmd: 'runner', fun: 'test.arg', user: 'sudo_ann', key, kwarg: { arg: ['x'], b: 1 } }
  const { return: told } = await stored((await clear(load)).jid)
  expect(told).toMatchObject({ user: master.config.user, return: { args: ['x'], kwargs: { b: 1 } } })
})

test('a name that is too long is no function', async () => {
  const load = { fun: `test.${'x'.repeat(300)}`, user: 'root', key }
  for (const cmd of ['runner', 'wheel'])
    expect(await clear({ cmd, ...load })).toMatchObject({ error: { name: 'SaltInvocationError' } })
})

test('with runner_returns off nothing is stored', async () => {
  await master.close()
  master = await InProcessMaster.open({ options: { runner_returns: false } })
  const load = { cmd: 'wheel', fun: 'minions.connected', user: 'root', key: await master.rootKey() }
  const { data } = (await clear(load)) as { data: { jid: string; success: boolean } }
  expect([data.success, [...master.context.jobs.list()]]).toEqual([true, []])
})

test('a wheel function is answered with its result; fields for the master are not passed to it', async () => {
  await master.setConnected(['b', 'a'])
  const reply = await clear({ cmd: 'wheel', fun: 'minions.connected', user: 'root', key, print_event: false })
  const { jid } = (reply as { data: { jid: string } }).data
  expect(reply).toEqual({
    tag: `salt/wheel/${jid}`,
    data: {
      fun: 'wheel.minions.connected',
      jid,
      tag: `salt/wheel/${jid}`,
      user: 'root',
      return: ['a', 'b'],
      success: true,
      _stamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    },
  })
  const failing = { cmd: 'wheel', fun: 'error.error', name: 'SaltInvocationError', message: 'No.' }
  expect(await clear({ ...failing, user: 'root', key })).toMatchObject({
    data: { fun: 'wheel.error.error', return: 'No.', success: false },
  })
  expect(await clear({ cmd: 'wheel', fun: 'no.such', user: 'root', key })).toMatchObject({
    data: { return: expect.stringContaining("'no.such' is not available."), success: false },
  })
})

test.each(['runner', 'wheel'])('%s needs the key of the user of the master, or a rule', async (cmd) => {
  const own = SymmetricKey.generate().text
  await writeFile(join(master.config.cachedir, '.ann_key'), own, { mode: 0o600 })
  const about = { cmd, fun: 'test.arg' }
  const refused = async (load: object) =>
    ((await clear({ ...about, ...load })).error as { name: string }).name
  expect(await refused({ user: 'root', key: 'wrong' })).toBe('UserAuthenticationError')
  expect(await refused({ user: 'root' })).toBe('UserAuthenticationError')
  expect(await refused({ user: '', key })).toBe('UserAuthenticationError')
  expect(await refused({ user: 'ann', key: own })).toBe('UserAuthenticationError') // publisher_acl is for publishing
  expect(await refused({ user: 'root', key, token: 'x' })).toBe('TokenAuthenticationError')
  expect(await refused({ user: 'root', key, eauth: 'pam' })).toBe('EauthAuthenticationError')
  expect([...master.context.jobs.list()]).toEqual([])
  expect(master.logged.filter((line) => line.includes(`Refused to run ${cmd}`))).toHaveLength(6)
  expect(master.logged.at(-1)).toContain("external_auth does not name the backend 'pam'")
  expect(JSON.stringify(master.logged)).not.toContain(own)
})

test('a user with an own key and a rule may run what the rule allows', async () => {
  const own = SymmetricKey.generate().text
  await writeFile(join(master.config.cachedir, '.eve_key'), own, { mode: 0o600 })
  const { jid } = await clear({ cmd: 'runner', fun: 'test.arg', user: 'eve', key: own })
  expect((await stored(jid)).return).toMatchObject({ user: 'eve', success: true })
  expect(await clear({ cmd: 'runner', fun: 'manage.up', user: 'eve', key: own })).toEqual({
    error: {
      name: 'UserAuthenticationError',
      message: 'Authentication failure of type "user" occurred',
    },
    denied: true,
    reason: 'eve may not run the runner manage.up: no rule of publisher_acl allows it.',
  })
})

test('jobs.* shows a user who may not do everything only their own jobs', async () => {
  const own = SymmetricKey.generate().text
  await writeFile(join(master.config.cachedir, '.eve_key'), own, { mode: 0o600 })
  const ask = async (fun: string, arg: unknown[] = []) => {
    const { jid } = await clear({ cmd: 'runner', fun, user: 'eve', key: own, kwarg: { arg } })
    return ((await stored(jid)).return as Record<string, unknown>).return
  }
  const others = await clear({
    cmd: 'runner',
    fun: 'test.arg',
    user: 'root',
    key,
    kwarg: { arg: ['secret'] },
  })
  await stored(others.jid)
  expect(await ask('test.arg', ['mine'])).toMatchObject({ args: ['mine'] })
  const listed = (await ask('jobs.list_jobs')) as Record<string, { User: string }>
  expect(new Set(Object.values(listed).map(({ User }) => User))).toEqual(new Set(['eve']))
  expect(await ask('jobs.lookup_jid', [others.jid])).toContain(`There is no job ${others.jid}`)
  const load = { cmd: 'runner', fun: 'jobs.lookup_jid', user: 'root', key, kwarg: { arg: [others.jid] } }
  expect((await stored((await clear(load)).jid)).return).toMatchObject({ success: true })
})

test('the key of the user of the master needs no name beside it, as with salt-run of Python', async () => {
  const { jid } = await clear({ cmd: 'runner', fun: 'test.arg', key })
  expect((await stored(jid)).return).toMatchObject({ user: master.config.user })
})

test('a load that names no function is answered with an error', async () => {
  expect(await clear({ cmd: 'runner', user: 'root', key, fun: ['test.arg'] })).toEqual({
    error: { name: 'SaltInvocationError', message: expect.stringContaining('No function was named') },
  })
})

test('runs beyond the limit of the host are refused until others have ended', async () => {
  const over: (() => void)[] = []
  const gone = () => new Promise<void>((done) => over.push(done))
  const context = {
    ...master.context,
    startRun: async () => ({ end: new Promise<never>(() => {}), gone: gone(), leave: () => {} }),
  }
  const runner = new Map(runFunctionHandlers(context)).get('runner')
  const ask = () => runner?.({ cmd: 'runner', fun: 'test.sleep', user: 'root', key })
  for (let n = 0; n < 32; n++) expect(await ask()).toHaveProperty('jid')
  expect(await ask()).toMatchObject({ error: { message: expect.stringContaining('try again') } })
  over[0]?.()
  await until('a place', async () => Object.hasOwn((await ask()) as object, 'jid'))
})
