/** Rules for publishing jobs, and that no credentials are disclosed. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { listAudit } from '../../core/auth/audit/index.ts'
import { MASK } from '../../core/base/secret.ts'
import { decode } from '../../core/codec/index.ts'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

let master: InProcessMaster
afterEach(() => master.close())

async function open(options: Record<string, unknown> = {}): Promise<void> {
  master = await InProcessMaster.open({ options })
  for (const id of ['wire1', 'wire2']) await master.file(id, (await Peer.named(id)).key.publicKey)
}

const clear = async (load: Record<string, unknown>) => decode(await master.answer(packClear(load)))

const publish = (load: Record<string, unknown>) =>
  clear({ cmd: 'publish', tgt: '*', tgt_type: 'glob', fun: 'test.ping', arg: [], ret: '', jid: '', ...load })

const error = (name: string) => {
  const denied = { denied: true, reason: expect.any(String) }
  const more = name === 'AuthorizationError' ? denied : {}
  return { error: expect.objectContaining({ name, message: expect.any(String), ...more }) }
}
const published = {
  enc: 'clear',
  load: { jid: expect.any(String), minions: ['wire1', 'wire2'], missing: [] },
}

/** A user of this host with a key of their own. */
async function keyOf(user: string): Promise<string> {
  const { text } = SymmetricKey.generate()
  await writeFile(join(master.config.cachedir, `.${user}_key`), text, { mode: 0o600 })
  return text
}

describe('publishing', () => {
  const wrong: Record<string, Record<string, unknown>> = {
    'no key': {},
    'an empty key': { key: '' },
    'a wrong key': { key: SymmetricKey.generate().text },
    'a key that is not text': { key: 5 },
    'an array with the key': { key: [] },
    'a path as user': { user: '../../pki/master.pem', key: '' },
    'a name of JavaScript as user': { user: '__proto__', key: 'constructor' },
    'an unknown token': { kwargs: { token: '../../pki/master.pem' } },
    'a way to sign in that is not there': { kwargs: { eauth: 'pam', username: 'root', password: 'x' } },
  }

  test.each(Object.entries(wrong))('needs the key: with %s it is refused', async (_, load) => {
    await open()
    expect(await publish({ user: 'root', ...load })).toEqual(error('AuthenticationError'))
    expect([master.published, [...master.context.jobs.list()]]).toEqual([[], []])
  })

  test('shows no arguments of an unauthenticated request, for they may be secret', async () => {
    await open()
    const arg = ['cat', { __kwarg__: true, stdin: 'hunter2' }]
    expect(await publish({ user: 'root', key: 'wrong', fun: 'cmd.run', arg })).toEqual(
      error('AuthenticationError'),
    )
    expect(master.events).toMatchObject([{ tag: 'salt/job/error', data: { fun: 'cmd.run', arg: [] } }])
    expect(JSON.stringify([master.events, master.logged])).not.toContain('hunter2')
  })

  test('without a key, however often, fills neither logs nor the event bus', async () => {
    await open()
    for (let request = 0; request < 150; request++)
      expect(await publish({ user: 'root', key: 'wrong' })).toEqual(error('AuthenticationError'))
    const warnings = master.logged.filter((line) => line.startsWith('warn Refused to publish'))
    expect([warnings.length, master.events.length]).toEqual([100, 100])
    expect(await publish({ user: 'root', key: await master.rootKey() })).toEqual(published)
  })

  test('with the key of root is allowed, also in the name of other users', async () => {
    await open()
    for (const user of ['root', 'sudo_bob', 'bob']) {
      expect(await publish({ user, key: await master.rootKey() })).toEqual(published)
    }
  })

  test('with the key of root and no user name is refused: the log would have no user', async () => {
    await open()
    expect(await publish({ user: '', key: await master.rootKey() })).toEqual(error('AuthenticationError'))
    expect(master.published).toEqual([])
  })

  test('with a token or an eauth in the request is refused even if the key is right', async () => {
    await open()
    const key = await master.rootKey()
    for (const kwargs of [{ token: 'x' }, { token: '' }, { token: null }, { eauth: 'pam' }, { eauth: '' }])
      expect([kwargs, await publish({ user: 'root', key, kwargs })]).toEqual([
        kwargs,
        error('AuthenticationError'),
      ])
  })

  test.each([
    ['x/ret/wire1'],
    [`20261120120000123456/ret/wire1\n\n`],
    ['\n\n'],
    ['__proto__'],
    ['9'.repeat(100_000)],
  ])('under a made-up job id is refused, and the id does not get into a tag: %j', async (jid) => {
    await open()
    expect(await publish({ user: 'root', key: 'wrong', jid })).toEqual(error('AuthenticationError'))
    expect(await publish({ user: 'root', key: await master.rootKey(), jid })).toEqual(
      error('SaltInvocationError'),
    )
    expect(master.events.map(({ tag }) => tag)).toEqual(['salt/job/error', 'salt/job/error'])
  })

  test('CVE-2021-25283: text that looks like a template is taken literally', async () => {
    await open()
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it has to stay as it is
    const literal = ['{{7*7}}', '${7*7}', '<%= 7 %>', '#{7*7}']
    await publish({ user: 'root', key: await master.rootKey(), arg: literal, kwargs: { metadata: literal } })
    expect(master.published[0]?.job).toMatchObject({ arg: literal, metadata: literal })
  })
})

describe('publisher_acl', () => {
  const acl = { publisher_acl: { alice: ['test.*', { wire1: ['cmd.run'] }] } }

  test('CVE-2013-4435: an allowed function in a list does not allow the other functions', async () => {
    await open(acl)
    const alice = { user: 'alice', key: await keyOf('alice') }
    for (const fun of [
      'test.ping,cmd.run',
      ['test.ping', 'cmd.run'],
      'test.ping\ncmd.run',
      'cmd.run',
      'sys.doc',
    ]) {
      expect([fun, await publish({ ...alice, fun })]).toEqual([fun, error('AuthorizationError')])
    }
    expect(await publish({ ...alice, fun: ['test.ping', 'test.echo'], arg: [[], ['x']] })).toEqual(published)
    expect(await publish({ ...alice, fun: 'cmd.run', tgt: 'wire1' })).toMatchObject({
      load: { minions: ['wire1'] },
    })
    expect(await publish({ ...alice, fun: 'cmd.run', tgt: 'wire*' })).toEqual(error('AuthorizationError'))
    expect(master.logged.filter((line) => line.startsWith('warn Refused to publish'))).toHaveLength(6)
  })

  test('accepts job ids of users only if they are of the present time; with the key of root any', async () => {
    await open(acl)
    const alice = { user: 'alice', key: await keyOf('alice') }
    const jid = (ahead: number) =>
      `${new Date(master.now + ahead).toISOString().replace(/\D/g, '')}000`.slice(0, 20)
    const [minute, day] = [60_000, 86_400_000]
    for (const ahead of [0, 4 * minute, -23 * 60 * minute])
      expect([ahead, await publish({ ...alice, jid: jid(ahead) })]).toEqual([ahead, published])
    const others = [jid(6 * minute), jid(-2 * day), '99991231235959000000', '00000000000000000000']
    for (const other of [...others, `${others[2]}_7`])
      expect([other, await publish({ ...alice, jid: other })]).toMatchObject([
        other,
        { error: { name: 'SaltInvocationError', message: expect.stringContaining('is out of range') } },
      ])
    expect(await publish({ user: 'root', key: await master.rootKey(), jid: others[2] })).toEqual(published)
  })

  test('CVE-2022-22941: a forbidden function is refused even if its target matches no minion', async () => {
    await open(acl)
    const alice = { user: 'alice', key: await keyOf('alice') }
    expect(await publish({ ...alice, fun: 'cmd.run', tgt: 'nobody*' })).toEqual(error('AuthorizationError'))
    await publish({ ...alice, fun: 'cmd.run', tgt: ['nobody'], tgt_type: 'list' })
    await publish({ ...alice, tgt: 'nobody*' })
    expect(master.published).toEqual([])
  })

  test('can allow users of sudo only, with the pattern of Salt for all others', async () => {
    const publisher_acl_blacklist = { users: ['^(?!sudo_).*$'] }
    await open({ publisher_acl: { bob: ['test.*'] }, publisher_acl_blacklist, sudo_acl: true })
    const root = await master.rootKey()
    expect(await publish({ user: 'sudo_bob', key: root })).toEqual(published)
    expect(await publish({ user: 'sudo_bob', key: root, fun: 'cmd.run' })).toEqual(
      error('AuthorizationError'),
    )
    for (const [user, key] of [
      ['bob', await keyOf('bob')],
      ['root', root],
    ])
      expect([user, await publish({ user, key })]).toEqual([user, error('AuthorizationError')])
  })

  test("a user's key is valid for that user only, and only if the user is listed", async () => {
    await open(acl)
    const [alice, bob] = [await keyOf('alice'), await keyOf('bob')]
    for (const [user, key] of [
      ['bob', bob],
      ['bob', alice],
      ['alice', bob],
      ['root', alice],
      ['sudo_alice', alice],
    ]) {
      expect([user, await publish({ user, key })]).toEqual([user, error('AuthenticationError')])
    }
  })

  test("a name that begins with sudo_ needs the key of the master's user, even if a user has that name", async () => {
    await open({ publisher_acl: { '*': ['test.*'] } })
    const user = 'sudo_alice'
    expect(await publish({ user, key: await keyOf(user) })).toEqual(error('AuthenticationError'))
    expect(await publish({ user, key: await master.rootKey() })).toEqual(published)
  })

  test('does not mean root where the master runs as another user', async () => {
    await open({ user: 'daemon', publisher_acl: { '*': ['test.*'] } })
    expect(await publish({ user: 'root', key: await keyOf('root') })).toEqual(error('AuthenticationError'))
    expect(await publish({ user: 'alice', key: await keyOf('alice') })).toEqual(published)
  })
})

describe('options for returners and executors', () => {
  const steering = [
    { ret_config: 'other' },
    { ret_kwargs: { filename: '/etc/cron.d/x' } },
    { ret_kwargs: new Map([[1, 'x']]) },
    { module_executors: ['sudo'] },
    { module_executors: 'sudo' },
    { executor_opts: { user: 'root' } },
  ]

  test('need a rule: returners by name, anything else a user who may do everything', async () => {
    await open({ publisher_acl: { alice: ['test.*', { '@returners': ['redis'] }], carol: ['.*'] } })
    const alice = { user: 'alice', key: await keyOf('alice') }
    const carol = { user: 'carol', key: await keyOf('carol') }
    expect(await publish({ ...alice, ret: 'redis' })).toEqual(published)
    for (const ret of ['rawfile_json', 'redis,rawfile_json', ['redis', 'http'], ' http'])
      expect([ret, await publish({ ...alice, ret })]).toEqual([ret, error('AuthorizationError')])
    for (const kwargs of steering) {
      expect([kwargs, await publish({ ...alice, kwargs })]).toEqual([kwargs, error('AuthorizationError')])
      expect(await publish({ ...carol, ret: 'http', kwargs })).toEqual(published)
    }
    const empty = { ret_config: '', ret_kwargs: {}, module_executors: [], executor_opts: null }
    expect(await publish({ ...alice, kwargs: empty })).toEqual(published)
  })

  test('are planned as they are published', async () => {
    await open({ publisher_acl: { alice: ['test.*'] } })
    const request = { tgt: '*', fun: 'test.ping', arg: [], user: 'alice', key: await keyOf('alice') }
    expect(await clear({ cmd: '_plan', ...request, ret: 'http' })).toMatchObject({
      load: { plan: { allowed: false, reason: expect.stringContaining('the returner http') } },
    })
  })

  test('are named in the record of the job and in the audit log, without values that may be secret', async () => {
    await open({ publisher_acl: { alice: ['test.*'] } })
    const kwargs = {
      ret_config: 'other',
      ret_kwargs: { url: 'https://u:c4n4ry@h' },
      module_executors: ['sudo'],
    }
    const asked = { ret: 'http', kwargs }
    await publish({ user: 'root', key: await master.rootKey(), ...asked })
    await publish({ user: 'alice', key: await keyOf('alice'), ...asked })
    const shown = { ret: 'http', ...kwargs, ret_kwargs: { url: MASK } }
    const [job] = [...master.context.jobs.list()]
    expect(job?.load).toMatchObject(shown)
    expect(master.published[0]?.job).toMatchObject(kwargs)
    const lines = await listAudit(master.config.audit_log, { limit: 10 })
    expect(lines.map(({ verdict }) => verdict)).toEqual(['allowed', 'refused'])
    for (const line of lines) expect(line).toMatchObject(shown)
    expect(JSON.stringify([lines, job, master.logged, master.events])).not.toContain('c4n4ry')
  })

  test('with a delimiter that is no text reach the minions without it', async () => {
    await open()
    await publish({ user: 'root', key: await master.rootKey(), kwargs: { delimiter: ['|'] } })
    expect(master.published[0]?.job).not.toHaveProperty('delimiter')
  })

  test('arguments that look secret are masked in events, jobs and logs, and sent to minions, unless this is disabled', async () => {
    for (const mask_secret_words of [true, false]) {
      await open({ mask_secret_words })
      const arg = ['mysql --password=c4n4ry', { __kwarg__: true, token: 'c4n4ry' }]
      await publish({ user: 'root', key: await master.rootKey(), fun: 'some.thing', arg })
      expect(master.published[0]?.job.arg).toEqual(arg)
      const lines = await listAudit(master.config.audit_log, { limit: 10 })
      for (const shown of [lines, [...master.context.jobs.list()], master.events])
        expect(JSON.stringify(shown).includes('c4n4ry')).toBe(!mask_secret_words)
      if (mask_secret_words) await master.close()
    }
  })

  test('metadata is limited in size: every return carries it', async () => {
    await open()
    const key = await master.rootKey()
    const job = (bytes: number) =>
      publish({ user: 'root', key, kwargs: { metadata: { m: 'x'.repeat(bytes) } } })
    expect(await job(65_000)).toEqual(published)
    expect(await job(66_000)).toEqual(error('SaltInvocationError'))
  })
})

describe('CVE-2015-6918, CVE-2021-25284: a credential', () => {
  test.each([
    ['is right', true],
    ['is wrong', false],
  ])('is in no event, job, publication or log line when it %s', async (_, right) => {
    await open({ publisher_acl: { alice: ['test.*'] } })
    const [root, alice] = [await master.rootKey(), await keyOf('alice')]
    const canary = (name: string) => `c4n4ry-${name}`
    const secrets = {
      token: canary('token'),
      eauth: 'pam',
      username: 'fred',
      password: canary('password'),
    }
    const wrongKey = canary('key')
    await publish({ user: 'root', key: right ? root : wrongKey, password: canary('outer') })
    await publish({ user: 'alice', key: right ? alice : wrongKey, fun: right ? 'test.ping' : 'cmd.run' })
    await publish({
      user: 'root',
      key: right ? root : wrongKey,
      kwargs: { ...secrets, metadata: { shown: 1 } },
      jid: 'x',
    })
    await publish({ user: 'root', key: right ? root : wrongKey, ...secrets })
    const { username, password } = secrets
    await publish({
      user: 'root',
      key: right ? root : wrongKey,
      kwargs: { username, password, key: canary('inner') },
    })
    for (const cmd of ['wheel', 'runner', 'mk_token', 'get_token', 'nothing']) {
      await clear({ cmd, fun: 'key.list_all', user: 'root', key: right ? root : wrongKey, ...secrets })
    }
    const jobs = [...master.context.jobs.list()]
    const shown = JSON.stringify([master.events, master.published, master.logged, jobs])
    expect(jobs).toHaveLength(right ? 4 : 0)
    expect(shown).not.toContain('c4n4ry')
    for (const key of [root, alice]) expect(shown).not.toContain(key)
  })
})

describe('CVE-2020-11651, CVE-2020-11652, CVE-2021-25282: a clear command', () => {
  const internal = [
    '_send_pub',
    '_prep_auth_info',
    '_prep_pub',
    'connect',
    '__proto__',
    '__init__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'get',
    'size',
    'answer',
    'handlers',
    '_return',
    '_pillar',
    '_minion_event',
    'revoke_auth',
    '_file_recv',
    'minion_pub',
    '',
    ' ping',
    'PING',
    'ping\0',
  ]

  test.each(internal)('that does not exist is answered with nothing: %j', async (cmd) => {
    await open()
    const reply = await master.answer(
      packClear({ cmd, id: 'wire1', jid: '20261120120000123456', return: 1, tgt: '*' }),
    )
    expect(Buffer.from(reply).toString('hex')).toBe('80')
    expect([master.events, master.published]).toEqual([[], []])
  })

  test('CVE-2021-3144: with a token that is a path, or unknown, is answered with nothing', async () => {
    await open()
    for (const token of ['../../pki/master.pem', '/etc/passwd', '..', '', 'x'.repeat(10_000), '\0']) {
      expect(await clear({ cmd: 'get_token', token })).toEqual({})
    }
    expect(await clear({ cmd: 'get_token', token: ['x'] })).toBe(false)
  })

  test('wheel and runner need credentials, whatever their function', async () => {
    await open()
    const functions = [
      'key.accept',
      'pillar_roots.write',
      'file_roots.read',
      'config.update_config',
      '../x',
      '__proto__',
    ]
    for (const cmd of ['wheel', 'runner']) {
      for (const fun of functions) {
        for (const proof of [
          {},
          { token: 'x' },
          { eauth: 'auto', username: 'root', password: '' },
          { user: 'root', key: '' },
        ]) {
          expect(await clear({ cmd, fun, match: '*', path: '../x', ...proof })).toEqual({
            error: { name: expect.stringMatching(/AuthenticationError$/), message: expect.any(String) },
          })
        }
      }
    }
    expect(master.events).toEqual([])
  })
})
