/** Tokens and passwords over the request port: authentication, authorization, and that no credentials are disclosed. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ExtData } from '@msgpack/msgpack'
import { afterEach, describe, expect, test } from 'vitest'
import { currentUser } from '../../core/base/current-user.ts'
import { decode } from '../../core/codec/index.ts'
import { readRootKey, signForAddress } from '../../core/keys/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { keyPair } from '../harness/key-pairs.ts'
import { Peer } from '../harness/peer.ts'
import { freePort } from '../harness/ports.ts'
import { until } from '../harness/until.ts'

const PASSWORD = 'c4n4ry-password'
const auth_dirs = [fileURLToPath(new URL('../fixtures/auth', import.meta.url))]
const listed = (rules: Record<string, unknown>, users: Record<string, object> = {}) => ({
  '^users': {
    fred: { password: PASSWORD, groups: ['ops'] },
    bob: { password: PASSWORD, groups: [] },
    ...users,
  },
  ...rules,
})

let master: InProcessMaster
afterEach(() => master.close())

async function open(rules: Record<string, unknown>, options: Record<string, unknown> = {}, users = {}) {
  const external_auth = { listed: listed(rules, users) }
  master = await InProcessMaster.open({ options: { external_auth, auth_dirs, ...options } })
  for (const id of ['web1', 'db1']) await master.file(id, (await Peer.named(id)).key.publicKey)
}

type Reply = Record<string, never> & { error?: Record<string, unknown> }
const clear = async (load: object) =>
  decode(await master.answer(packClear(load as Record<string, unknown>))) as unknown as Reply

const fred = { eauth: 'listed', username: 'fred', password: PASSWORD }
const publish = (kwargs: object, load: object = {}) =>
  clear({
    cmd: 'publish',
    tgt: '*',
    fun: 'test.ping',
    arg: [],
    user: 'root',
    key: '',
    jid: '',
    kwargs,
    ...load,
  })
const login = async (credentials: object = fred) =>
  (await clear({ cmd: 'mk_token', ...credentials })) as unknown as Record<string, unknown> & { token: string }

describe('a job', () => {
  test.each([
    ['a password', async () => fred],
    ['a token', async () => ({ token: (await login()).token })],
  ])(
    'with %s is published in the name of the authenticated user, whatever user the request names',
    async (_, proof) => {
      await open({ fred: ['test.*'] })
      const reply = await publish({ ...(await proof()), user: 'root' }, { user: 'root' })
      expect(reply).toMatchObject({ load: { minions: ['db1', 'web1'] } })
      const [job] = master.published
      expect(job?.job).toMatchObject({ user: 'fred', fun: 'test.ping' })
      expect([...master.context.jobs.list()][0]?.load).toMatchObject({ user: 'fred' })
      expect(master.events.find(({ tag }) => tag.endsWith('/new'))?.data).toMatchObject({ user: 'fred' })
    },
  )

  test('that no rule allows is refused with the reason', async () => {
    await open({ fred: [{ 'web*': ['cmd.run'] }] })
    expect(await publish(fred, { fun: 'cmd.run', arg: ['id'] })).toEqual({
      error: {
        name: 'AuthorizationError',
        message: 'Authorization error occurred.',
        denied: true,
        rule: "external_auth.listed.fred[0]['web*'][0]: 'cmd.run'",
        reason:
          "fred may not run cmd.run: external_auth.listed.fred[0]['web*'][0]: 'cmd.run' is not for all of db1, web1.",
      },
    })
    expect(await publish(fred, { fun: 'cmd.run', tgt: 'web1' })).toMatchObject({
      load: { minions: ['web1'] },
    })
  })

  test('for a list with unknown ids is refused to a user who is limited to other minions', async () => {
    await open({ fred: [{ 'web*': ['test.*'] }] })
    const list = (tgt: string[]) => publish(fred, { tgt, tgt_type: 'list' })
    expect(await list(['web1', 'db9'])).toMatchObject({ error: { name: 'AuthorizationError' } })
    expect(await list(['web1', 'web9'])).toMatchObject({ load: { minions: ['web1'], missing: ['web9'] } })
  })

  test('that is allowed on certain minions is sent to no others, whatever their own grains are', async () => {
    await open({ fred: [{ 'web*': ['test.*'] }] })
    await master.context.minions.save('web1', { grains: { os: 'Debian' } })
    await master.context.minions.save('db1', { grains: { os: 'Fedora' } })
    const sent = async (tgt: string, tgt_type: string) => {
      await publish(fred, { tgt, tgt_type })
      const job = master.published.at(-1)?.job
      return [job?.tgt, job?.tgt_type]
    }
    expect(await sent('os:Debian', 'grain')).toEqual([['(', 'G@os:Debian', ')', 'and', 'L@web1'], 'compound'])
    expect(await sent('G@os:Debian or web*', 'compound')).toEqual([
      ['(', 'G@os:Debian', 'or', 'web*', ')', 'and', 'L@web1'],
      'compound',
    ])
    expect(await sent('web*', 'glob')).toEqual(['web*', 'glob'])
    const [, , grain] = [...master.context.jobs.list()]
    expect(grain?.load).toMatchObject({ tgt: 'os:Debian', tgt_type: 'grain' })
  })

  test('is authorized by the words as minions will read them, however they are written', async () => {
    await open({ fred: [{ 'web*': [{ 'cmd.run': { args: ['ls'], kwargs: { cwd: '/srv' } } }] }] })
    const written = (text: string) => new ExtData(5, Buffer.from(text))
    const arg = ['ls', { __kwarg__: true, cwd: '/srv' }]
    const job = (load: object) =>
      publish(fred, { fun: 'cmd.run', tgt: ['web1'], tgt_type: 'list', arg, ...load })
    expect(await job({})).toMatchObject({ load: { minions: ['web1'] } })
    for (const load of [
      { tgt: ['web1', written('db1')] },
      { arg: [...arg, written('cwd=/etc')] },
      { arg: [...arg, 'cwd=/etc\n'] },
    ])
      expect([load, await job(load)]).toMatchObject([{}, { error: { name: 'AuthorizationError' } }])
    expect(master.published).toHaveLength(1)
  })

  test('of saltutil.find_job is allowed to every authenticated user, but without a rule writes to no returner', async () => {
    await open({ fred: ['test.ping'] })
    const found = (load: object) => publish(fred, { fun: 'saltutil.find_job', arg: ['1'], ...load })
    expect(await found({ ret: '' })).toMatchObject({ load: { minions: ['db1', 'web1'] } })
    expect(await found({ ret: 'rawfile_json' })).toMatchObject({ error: { name: 'AuthorizationError' } })
  })

  test('of saltutil.find_job without a rule is about jobs of the caller only', async () => {
    const ann = { ...fred, username: 'ann' }
    const rules = { fred: ['test.*'], bob: ['test.*'], ann: ['saltutil.*'] }
    await open(rules, {}, { ann: { password: PASSWORD, groups: [] } })
    const bob = { ...fred, username: 'bob' }
    const reply = await publish(fred, { fun: 'test.arg', arg: ['c4n4ry'] })
    const { jid } = reply.load as unknown as { jid: string }
    const ask = (who: object, arg: unknown[]) => publish(who, { fun: 'saltutil.find_job', arg })
    expect(await ask(fred, [jid])).toMatchObject({ load: { minions: ['db1', 'web1'] } })
    const named = [{ __kwarg__: true, jid }]
    for (const arg of [[jid], named, [BigInt(jid)], [`jid=${jid}`], [null, `jid=${jid}`]])
      expect([arg, await ask(bob, arg)]).toMatchObject([arg, { error: { name: 'AuthorizationError' } }])
    const quoted = { arg: [jid], words: { args: [`'${jid}'`], kwargs: {} } }
    expect(await publish(bob, { fun: 'saltutil.find_job', ...quoted })).toMatchObject({
      error: { name: 'AuthorizationError' },
    })
    expect(JSON.stringify(await ask(bob, [jid]))).toContain(`The job ${jid} belongs to another user.`)
    expect(await ask(ann, [jid])).toMatchObject({ load: { minions: ['db1', 'web1'] } })
    const tooLong = await ask(bob, [jid.repeat(1_000)]) // for a key of the job cache
    expect(tooLong).toMatchObject({ load: { minions: ['db1', 'web1'] } })
  })

  test('of several functions is refused if one of them is not allowed with its own arguments', async () => {
    await open({ fred: ['test.*', { '*': [{ 'cmd.run': { args: ['ls'] } }] }] })
    const job = (fun: unknown, arg: unknown) => publish(fred, { fun, arg })
    expect(await job(['test.ping', 'cmd.run'], [[], ['ls']])).toMatchObject({
      load: { minions: ['db1', 'web1'] },
    })
    for (const [fun, arg] of [
      [
        ['test.ping', 'cmd.run'],
        [['ls'], ['id']],
      ],
      [
        ['cmd.run', 'cmd.run'],
        [['ls'], ['id']],
      ],
      ['test.ping,cmd.run', [[], ['id']]],
      ['cmd.run', [{ __kwarg__: true, cmd: 'id' }]],
      ['cmd.run', []],
    ])
      expect([fun, await job(fun, arg)]).toMatchObject([fun, { error: { name: 'AuthorizationError' } }])
    const unclear = await job(['cmd.run', 'test.ping'], ['ls', []])
    expect(unclear).toMatchObject({ error: { name: 'SaltInvocationError' } })
    expect(master.published).toHaveLength(1)
  })

  test('with a typed word is authorized by the value that the word stands for', async () => {
    await open({ fred: [{ '*': [{ 'cmd.run': { args: ['True|yes'] } }] }] })
    const job = (text: string) =>
      publish(fred, { fun: 'cmd.run', arg: [true], words: { args: [text], kwargs: {} } })
    expect(await job('yes')).toMatchObject({ load: { minions: ['db1', 'web1'] } })
    expect(await job('on')).toMatchObject({ error: { name: 'AuthorizationError' } })
  })

  test('is planned with the rule that allows it, or the reason why none does', async () => {
    await open({ fred: ['test.*'] })
    const plan = (fun: string) => publish(fred, { cmd: '_plan', fun })
    expect(await plan('test.ping')).toMatchObject({
      load: { plan: { allowed: true, user: 'fred', rule: "external_auth.listed.fred[0]: 'test.*'" } },
    })
    expect(await plan('cmd.run')).toEqual({
      enc: 'clear',
      load: {
        plan: {
          allowed: false,
          user: 'fred',
          reason: 'fred may not run cmd.run: no rule of external_auth.listed allows it.',
        },
      },
    })
  })
})

describe('authentication', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a wrong password', { ...fred, password: 'x' }],
    ['an unknown user', { ...fred, username: 'nobody' }],
    ['a backend that is not named', { ...fred, eauth: 'auto' }],
    ['a backend with a name of JavaScript', { ...fred, eauth: '__proto__' }],
    ['a backend that is no text', { ...fred, eauth: { $ne: 1 } }],
    ['a user that is no text', { ...fred, username: ['fred'] }],
    ['no password', { eauth: 'listed', username: 'fred' }],
    ['a user with a name of JavaScript', { ...fred, username: 'constructor' }],
  ])('%s is refused, by all requests in the same words', async (_, proof) => {
    await open({ '*': ['.*', '@runner', '@wheel'] })
    expect(await publish(proof)).toEqual({
      error: { name: 'AuthenticationError', message: 'Authentication error occurred.' },
    })
    expect(await clear({ cmd: 'mk_token', ...proof })).toBe('')
    for (const cmd of ['runner', 'wheel'])
      expect((await clear({ cmd, fun: 'test.arg', ...proof })).error?.name).toBe('EauthAuthenticationError')
    expect(master.published).toEqual([])
  })

  test('all refusals take at least half a second, also those of backends that do not exist', async () => {
    await open({ fred: ['.*'] })
    for (const proof of [
      { ...fred, password: 'x' },
      { ...fred, eauth: 'none' },
    ]) {
      const begun = performance.now()
      await login(proof)
      expect(performance.now() - begun).toBeGreaterThan(480)
    }
  })

  test('a backend that fails or gives an invalid answer authenticates no user, and the log says so', async () => {
    await open({ '*': ['.*'] })
    for (const username of ['down', 'junk'])
      expect((await publish({ ...fred, username })).error).toEqual({
        name: 'AuthenticationError',
        message: 'Authentication error occurred.',
        reason: expect.stringContaining('Try again later'),
      })
    expect(await login({ ...fred, username: 'down' })).toEqual({
      error: { name: 'EauthAuthenticationError', message: expect.stringContaining('Try again later') },
    })
    expect(master.logged.join('\n')).toContain('the server is away')
  })

  test('CVE-2016-3176: a user cannot choose settings of the backend when signing in', async () => {
    await open({ fred: ['.*'] })
    const more = { service: 'other', '^users': {}, users: {}, settings: {}, otp: '1', cmd: 'x' }
    expect(await publish({ ...more, ...fred })).toMatchObject({ load: { minions: ['db1', 'web1'] } })
  })

  test('CVE-2024-38825: a certificate proves nothing: there is no backend pki, even if the configuration names one', async () => {
    await open({ fred: ['.*'] }, { external_auth: { pki: { fred: ['.*', '@runner', '@wheel'] } } })
    const proof = { eauth: 'pki', username: 'fred', password: (await keyPair('wire1')).publicKey.pem }
    expect((await publish(proof)).error?.name).toBe('AuthenticationError')
    expect(master.published).toEqual([])
    expect(await master.context.auth.checkBackends()).toEqual([
      expect.stringContaining('external_auth.pki cannot be used'),
    ])
  })

  test('a user of an allowed group is accepted, and permissions of the backend replace those of the configuration', async () => {
    await open(
      { 'ops%': ['test.*'], rita: ['.*'] },
      {},
      { rita: { password: PASSWORD, groups: [], permissions: ['test.echo'] } },
    )
    expect(await publish(fred)).toMatchObject({ load: { minions: ['db1', 'web1'] } })
    const rita = { ...fred, username: 'rita' }
    expect((await publish(rita)).error?.name).toBe('AuthorizationError')
    expect(await publish(rita, { fun: 'test.echo' })).toMatchObject({ load: { minions: ['db1', 'web1'] } })
    expect(await login(rita)).toMatchObject({ perms: ['test.echo'] })
  })
})

describe('a token', () => {
  test('is 256 random bits, in the map that Salt gives, with the permissions of its owner', async () => {
    await open({ fred: ['test.*'], 'ops%': ['@runner'] })
    const made = await login()
    const now = master.now / 1000
    expect({ ...made, start: Number(made.start), expire: Number(made.expire) }).toEqual({
      start: now,
      expire: now + 43_200,
      name: 'fred',
      eauth: 'listed',
      groups: ['ops'],
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
      perms: ['test.*', '@runner'],
    })
    expect(await clear({ cmd: 'get_token', token: made.token })).toEqual(made)
  })

  test('is on no disk, in no event and no log', async () => {
    await open({ fred: ['test.*', '@runner', '@wheel'] })
    const { token } = await login()
    await publish({ token })
    await publish({ token }, { fun: 'cmd.run' })
    await publish(fred)
    await clear({ cmd: 'wheel', fun: 'minions.connected', ...fred, otp: 'c4n4ry-otp' })
    const { jid } = await clear({ cmd: 'runner', fun: 'test.arg', token, kwarg: { a: 1 } })
    await until('the return', () => master.context.jobs.return(String(jid), master.config.id))
    expect(
      JSON.stringify([master.events, master.published, master.logged, [...master.context.jobs.list()]]),
    ).not.toMatch(new RegExp(`${token}|c4n4ry`))
    // A folder of the run may go while they are listed.
    const list = () => readdir(master.root, { recursive: true, withFileTypes: true }).catch(() => undefined)
    for (const file of await until('all files', list)) {
      if (!file.isFile()) continue
      const bytes = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.alloc(0)) // gone meanwhile
      expect([file.name, bytes.includes(token), bytes.includes('c4n4ry')]).toEqual([file.name, false, false])
      expect([file.name, bytes.includes(Buffer.from(token, 'hex'))]).toEqual([file.name, false])
    }
  })

  test('CVE-2021-3144: is refused from the moment it has expired, and deleted', async () => {
    await open({ fred: ['.*'] }, { token_expire: 60 })
    const { token } = await login()
    master.now += 59_999
    expect(await publish({ token })).toMatchObject({ load: { minions: ['db1', 'web1'] } })
    master.now += 1
    expect((await publish({ token })).error?.name).toBe('AuthenticationError')
    master.now -= 60_000
    expect(await clear({ cmd: 'get_token', token })).toEqual({})
  })

  test('is refused once it is revoked', async () => {
    await open({ fred: ['.*'] })
    const { token } = await login()
    const revoke = () => clear({ cmd: '_revoke_token', token })
    for (const odd of [['x'], [token], null])
      expect([odd, await clear({ cmd: '_revoke_token', token: odd })]).toEqual([odd, false])
    expect([await revoke(), await revoke()]).toEqual([true, false])
    expect((await publish({ token })).error?.name).toBe('AuthenticationError')
  })

  test.each<[string, Record<string, unknown>, boolean]>([
    ['other rights', { external_auth: { listed: listed({ fred: ['test.ping'] }) } }, false],
    [
      'rights of another group',
      { external_auth: { listed: listed({ fred: ['test.*'], 'x%': ['.*'] }) } },
      true,
    ],
    [
      'rights of their group',
      { external_auth: { listed: listed({ fred: ['test.*'], 'ops%': ['.*'] }) } },
      false,
    ],
    ['no backend', { external_auth: {} }, false],
  ])('after a restart with %s is still valid: %#', async (_, options, works) => {
    await open({ fred: ['test.*'] })
    const { token } = await login()
    const before = master.config
    Object.assign(master, { config: { ...before, ...options } })
    await master.restart()
    expect('load' in (await publish({ token }))).toBe(works)
    Object.assign(master, { config: before })
    await master.restart()
    expect('load' in (await publish({ token }))).toBe(works || Object.keys(options).length === 0)
  })

  test('with keep_acl_in_token keeps the rights it was made with', async () => {
    await open({ fred: ['test.*'] }, { keep_acl_in_token: true })
    const { token, auth_list } = await login()
    expect(auth_list).toEqual(['test.*'])
    Object.assign(master, {
      config: { ...master.config, external_auth: { listed: listed({ fred: ['pkg.*'] }) } },
    })
    await master.restart()
    expect('load' in (await publish({ token }))).toBe(true)
    expect('load' in (await publish({ token }, { fun: 'pkg.list' }))).toBe(false)
  })

  test('with keep_acl_in_token is refused if its backend is no longer in the configuration', async () => {
    await open({ fred: ['test.*'] }, { keep_acl_in_token: true })
    const { token } = await login()
    Object.assign(master, { config: { ...master.config, external_auth: { pam: { fred: ['test.*'] } } } })
    await master.restart()
    expect((await publish({ token })).error?.name).toBe('AuthenticationError')
  })

  test('is not called unknown while the token store cannot be read', async () => {
    const eauth_redis_port = await freePort()
    await open(
      { fred: ['test.*'] },
      { eauth_tokens: 'redis', eauth_redis_host: '127.0.0.1', eauth_redis_port },
    )
    const token = '0'.repeat(64)
    for (const load of [
      { cmd: 'mk_token', ...fred },
      { cmd: 'get_token', token },
      { cmd: '_revoke_token', token },
    ])
      expect([load, await clear(load)]).toMatchObject([load, { error: { name: 'SaltMasterError' } }])
    expect((await publish({ token })).error).toMatchObject({
      name: 'AuthenticationError',
      reason: expect.stringContaining('Try again later'),
    })
    expect(master.published).toEqual([])
  })

  test('is not made for a user whom no rule allows anything', async () => {
    await open({ fred: ['.*'] })
    expect(await login({ ...fred, username: 'bob' })).toBe('')
    expect(master.logged.at(-1)).toContain('no rule of external_auth is for this user')
  })

  test.each<[unknown, unknown, number]>([
    [false, 60, 43_200],
    [true, 60, 60],
    [true, '90', 90],
    [true, -5, 43_200],
    [true, 'soon', 43_200],
    [true, '1e400', 43_200],
    [{ listed: ['fred'] }, 60, 60],
    [{ listed: ['bob'] }, 60, 43_200],
    [{ pam: ['fred'] }, 60, 43_200],
  ])('with token_expire_user_override %j and a wish for %j lives %s s', async (override, wish, seconds) => {
    await open({ fred: ['.*'] }, { token_expire_user_override: override })
    const { start, expire } = await login({ ...fred, token_expire: wish } as object)
    expect(Number(expire) - Number(start)).toBe(seconds)
  })
})

describe("functions of the master's host", () => {
  test('run for a user with a rule, in the name of the user, without the credentials', async () => {
    await open({ fred: [{ '@runner': ['test.arg'] }, { '@minions': ['connected'] }] })
    const { jid } = await clear({ cmd: 'runner', fun: 'test.arg', ...fred, kwarg: { arg: ['x'], b: 1 } })
    const ret = await until('the return', () => master.context.jobs.return(String(jid), master.config.id))
    expect(ret.return).toMatchObject({
      user: 'fred',
      fun_args: ['x', { b: 1 }],
      return: { args: ['x'], kwargs: { b: 1 } },
    })
    const { token } = await login()
    await master.setConnected(['web1'])
    expect(await clear({ cmd: 'wheel', fun: 'minions.connected', token })).toMatchObject({
      data: { user: 'fred', return: ['web1'], success: true },
    })
  })

  test("do not show jobs of the master's user to an eauth user of the same name", async () => {
    const host = currentUser()
    await open(
      { [host]: ['test.ping', '@jobs', '@runs', '@batch'] },
      {},
      { [host]: { password: PASSWORD, groups: [] } },
    )
    const key = await master.rootKey()
    const theirs = await publish({}, { user: host, key })
    const proof = { eauth: 'listed', username: host, password: PASSWORD }
    const mine = await publish(proof)
    const ask = async (fun: string, arg: unknown[] = []) => {
      const { jid } = await clear({ cmd: 'runner', fun, ...proof, kwarg: { arg } })
      const ret = await until('the return', () => master.context.jobs.return(String(jid), master.config.id))
      return (ret.return as Record<string, unknown>).return
    }
    const [their, my] = [theirs, mine].map(({ load }) =>
      String((load as unknown as Record<string, unknown>).jid),
    )
    const listed = Object.keys((await ask('jobs.list_jobs')) as object)
    expect([listed.includes(their!), listed.includes(my!)]).toEqual([false, true])
    expect(await ask('jobs.lookup_jid', [their])).toContain(`There is no job ${their}`)
    const batch = await publish({ batch: '1' }, { user: host, key })
    const { jid } = batch.load as unknown as Record<string, unknown>
    expect(await ask('batch.list')).toEqual({})
    expect(await ask('batch.stop', [jid])).toContain(`There is no batch ${jid}`)
    expect(master.context.jobs.batches.stopped(String(jid))).toBeUndefined()
    expect(master.published.map(({ job }) => Object.hasOwn(job, 'owner'))).not.toContain(true)
  })

  test('are refused with a reason if no rule allows them', async () => {
    await open({ fred: ['.*', { '@runner': ['test.*'] }] })
    expect(await clear({ cmd: 'runner', fun: 'manage.up', ...fred })).toEqual({
      error: {
        name: 'EauthAuthenticationError',
        message: 'Authentication failure of type "eauth" occurred for user fred.',
      },
      denied: true,
      reason: 'fred may not run the runner manage.up: no rule of external_auth.listed allows it.',
    })
    const { token } = await login()
    expect(await clear({ cmd: 'wheel', fun: 'key.accept', token, match: '*' })).toMatchObject({
      error: { name: 'TokenAuthenticationError' },
      denied: true,
    })
  })
})

describe('guessing', () => {
  const guess = (n: number) => ({ ...fred, password: `guess ${n}` })
  const LOCKED = 'There were too many wrong passwords for "fred". Try again in'
  const many = Array.from({ length: 150 }, (_, n) => n)
  const ways: [string, (credentials: object) => Promise<unknown>][] = [
    ['mk_token', login],
    ['publish', publish],
    ['runner', (credentials) => clear({ cmd: 'runner', fun: 'test.arg', ...credentials })],
    ['wheel', (credentials) => clear({ cmd: 'wheel', fun: 'key.list_all', ...credentials })],
    [
      '_plan',
      (credentials) =>
        clear({ cmd: '_plan', tgt: '*', fun: 'test.ping', arg: [], user: 'x', kwargs: credentials }),
    ],
  ]
  const isLocked = (reply: unknown) => JSON.stringify(reply).includes('too many wrong passwords for')

  test.each(ways)(
    'of 150 passwords at once by %s only 20 are checked, and then none by any other request',
    async (_, way) => {
      await open({ fred: ['test.*'] })
      const replies = await Promise.all(many.map((n) => way(guess(n))))
      expect(replies.filter(isLocked)).toHaveLength(130)
      for (const [, other] of ways) {
        const reply = JSON.stringify(await other(fred))
        expect(reply).toContain(JSON.stringify(LOCKED).slice(1, -1))
        expect(reply).toMatch(/"retry_after":\d+/)
      }
    },
  )

  test('locks the user out for login_lockout, but not their token and not other users', async () => {
    await open({ fred: ['test.*'], bob: ['test.*'] }, { login_attempts: 2 })
    const { token } = await login()
    for (const n of [1, 2]) await login(guess(n))
    expect(isLocked(await login())).toBe(true)
    expect(await publish({ token })).toHaveProperty('load')
    expect(await login({ ...fred, username: 'bob' })).toHaveProperty('token')
  })

  test('at one address, if an API of this host signs it, locks no user out at an address of an earlier log-in', async () => {
    await open({ fred: ['test.*'] }, { login_attempts: 2 })
    const key = (await readRootKey(master.config, master.config.user)) as string
    const from =
      (address: string, proof = signForAddress(key, address)) =>
      async (credentials: object) =>
        decode(await master.answer(packClear({ cmd: 'mk_token', ...credentials }, 3, { address, proof })))
    const [home, away, liar] = [from('192.0.2.1'), from('192.0.2.2'), from('192.0.2.1', 'a lie')]
    expect(await home(fred)).toHaveProperty('token')
    for (const n of [1, 2]) await away(guess(n))
    for (const n of [3, 4, 5]) await liar(guess(n))
    expect(isLocked(await liar(fred))).toBe(true)
    expect(await away(fred)).toHaveProperty('error')
    expect(await home(fred)).toHaveProperty('token')
    expect(JSON.stringify(master.logged)).not.toContain('a lie')
  })
})
