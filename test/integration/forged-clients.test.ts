/**
 * Requests with false credentials to a master whose rules allow every user everything: by the port of requests and through
 * an API on another host, 24 false credentials for 5 commands, and 8 false tokens each way for 2: 152 forged requests.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listAudit } from '../../core/auth/audit/index.ts'
import { decode } from '../../core/codec/index.ts'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { withApiClients } from '../../core/master/handlers/api-client.ts'
import { storeRun } from '../../core/runs/stored-run.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

const JID = '20261120120000123456'

type Load = Record<string, unknown>

const users = Object.fromEntries(
  ['fred', 'mallory'].map((name) => [name, { password: `of ${name}`, groups: [] }]),
)
const everything = ['.*', '@runner', '@wheel']
const options = {
  external_auth: { listed: { '^users': users, '*': everything } },
  publisher_acl: { '*': everything },
  api_clients: ['api-*'],
  token_expire_user_override: true,
  auth_dirs: [fileURLToPath(new URL('../fixtures/auth', import.meta.url))],
}

/** Each with what it does if it is obeyed. */
const commands: Record<string, Load> = {
  publish: { user: 'root', tgt: '*', fun: 'test.ping', arg: [] },
  _plan: { user: 'root', tgt: '*', fun: 'test.ping', arg: [] },
  runner: { fun: 'test.arg', kwarg: { arg: ['x'] } },
  wheel: { fun: 'key.delete', match: 'wire1' },
  mk_token: {},
}

let master: InProcessMaster
let api: Peer
/** Keys of users of the master's host, and of its own user. */
let keys: Record<'mallory' | 'fred' | 'root', string>
let tokens: Record<'good' | 'expired' | 'revoked', string>

const ask = (frame: Uint8Array) => master.answer(frame)
const clear = async (load: Load): Promise<unknown> => decode(await ask(packClear(load)))

/** The ways a request comes. */
const ways: Record<string, (load: Load) => Promise<unknown>> = {
  'the port of requests': clear,
  'an API on another host': async (load) => {
    const sealed = api.seal({ cmd: '_client_request', load })
    return (sealed.open(await ask(sealed.frame)) as { reply: unknown }).reply
  },
}

const password = (username: string, of = username) => ({ eauth: 'listed', username, password: `of ${of}` })

const odd = [{ toString: 1 }, [{ toString: null }], 2n ** 60n]

async function login(more: Load = {}): Promise<string> {
  return ((await clear({ cmd: 'mk_token', ...password('fred'), ...more })) as { token: string }).token
}

async function keyOf(user: string): Promise<string> {
  const { text } = SymmetricKey.generate()
  await writeFile(join(master.config.cachedir, `.${user}_key`), text, { mode: 0o600 })
  return text
}

beforeEach(async () => {
  master = await InProcessMaster.open({ options })
  api = await Peer.named('api-1')
  for (const peer of [await Peer.named('wire1'), api]) await master.file(peer.id, peer.key.publicKey)
  await api.signIn(ask)
  keys = { mallory: await keyOf('mallory'), fred: await keyOf('fred'), root: await master.rootKey() }
  tokens = { expired: await login({ token_expire: 60 }), revoked: await login(), good: await login() }
  await clear({ cmd: '_revoke_token', token: tokens.revoked })
  master.now += 60_000
  master.events.length = 0
})
afterEach(() => master.close())

/** Of another user, or of nobody. */
const lies: Record<string, () => Load> = {
  'the name of root and no key': () => ({ user: 'root', key: '' }),
  'the name of root and the key of another user': () => ({ user: 'root', key: keys.mallory }),
  'the name of a user and the key of another': () => ({ user: 'fred', key: keys.mallory }),
  'sudo and the key of who used it': () => ({ user: 'sudo_mallory', key: keys.mallory }),
  'a key that is no text': () => ({ user: 'fred', key: [keys.fred] }),
  "another user's name and the own password": () => password('fred', 'mallory'),
  'the own password, for a backend that is not named': () => ({ ...password('mallory'), eauth: 'auto' }),
  'a password and the key of root': () => ({ ...password('fred', 'x'), user: 'root', key: keys.root }),
  'a token that was given back': () => ({ token: tokens.revoked }),
  'a token that has expired': () => ({ token: tokens.expired }),
  'a token in other letters, and the key of root': () => ({
    token: tokens.good.toUpperCase().replace(/\d/, 'F'),
    user: 'root',
    key: keys.root,
  }),
}
/** The keys of users of the master's host are none on others. */
const farLies: typeof lies = {
  'the right key of root': () => ({ user: 'root', key: keys.root }),
  'the right key of a user': () => ({ user: 'fred', key: keys.fred }),
}

const all = [
  ...Object.keys(ways).flatMap((way) => Object.keys(lies).map((lie) => [way, lie] as const)),
  ...Object.keys(farLies).map((lie) => ['an API on another host', lie] as const),
]

const effects = async () => ({
  jobs: [...master.context.jobs.list()],
  published: [...master.published],
  keys: await master.context.keys.list(),
  told: master.events.filter(({ tag }) => tag !== 'salt/job/error'),
})

const refusedLines = async () =>
  (await listAudit(master.config.audit_log, { limit: 1000 })).filter(({ verdict }) => verdict === 'refused')

const request = (cmd: string, proof: Load): Load => ({
  cmd,
  ...commands[cmd],
  ...proof,
  ...(commands[cmd]?.tgt === '*' && { kwargs: proof }),
})

describe('false credentials by', () => {
  test.each(all)(
    '%s: %s, get every command refused, change nothing, and are in the audit log',
    async (way, lie) => {
      const before = await effects()
      const proof = ({ ...lies, ...farLies }[lie] as () => Load)()
      const answers = await Promise.all(
        Object.keys(commands).map(async (cmd) => [cmd, await ways[way]?.(request(cmd, proof))] as const),
      )
      const failed = {
        error: expect.objectContaining({ name: expect.stringMatching(/AuthenticationError$/) }),
      }
      expect(Object.fromEntries(answers)).toEqual({
        publish: failed,
        _plan: failed,
        runner: failed,
        wheel: failed,
        mk_token: '',
      })
      expect(await effects()).toEqual(before)
      const noted = await refusedLines()
      expect(noted.map(({ act }) => act).sort()).toEqual(['login', 'plan', 'publish', 'runner', 'wheel'])
      expect(noted.every(({ claimed }) => claimed === true)).toBe(true)
    },
  )
})

describe.each(Object.entries(ways))('by %s', (way, send) => {
  test('a token is neither shown to nor revoked by a client that does not have it', async () => {
    const { good, revoked, expired } = tokens
    for (const token of [
      revoked,
      expired,
      good.slice(1),
      `${good}0`,
      good.toUpperCase(),
      '../x',
      [good],
      { $ne: 1 },
    ]) {
      const nothing = typeof token === 'string' ? {} : false
      expect([token, await send({ cmd: 'get_token', token })]).toEqual([token, nothing])
      expect([token, await send({ cmd: '_revoke_token', token })]).toEqual([token, false])
    }
    expect(await send({ cmd: 'get_token', token: good })).toMatchObject({ name: 'fred' })
  })

  test('valid credentials are accepted', async () => {
    const right: Load[] = [password('mallory'), { token: tokens.good }]
    if (way === 'the port of requests')
      right.push({ user: 'fred', key: keys.fred }, { user: 'sudo_fred', key: keys.root })
    for (const proof of right) {
      expect(await send(request('publish', proof))).toMatchObject({ load: { minions: ['wire1'] } })
      expect(await send(request('_plan', proof))).toMatchObject({ load: { plan: { allowed: true } } })
      expect(await send(request('runner', proof))).toMatchObject({ jid: expect.any(String) })
    }
    expect(await send(request('mk_token', password('mallory')))).toMatchObject({ name: 'mallory' })
    expect(await send(request('wheel', password('mallory')))).toMatchObject({ data: { success: true } })
    expect((await effects()).keys.accepted).toEqual(['api-1'])
    expect(await refusedLines()).toEqual([])
  })
})

describe('a client of the API', () => {
  const asked: Load[] = []
  const clearOnes = new Map([['secret', async (load: Load) => asked.push(load)]])
  const sender = () => ({
    id: 'api-1',
    verified: true,
    version: 3,
    fingerprint: randomBytes(32),
    algorithms: { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' } as const,
  })
  const send = (cmd: string, load: Load) =>
    withApiClients(master.context, clearOnes, new Map()).get(cmd)?.(load, sender())

  test.each(odd)('with credentials that cannot be text is refused like any other: %#', async (value) => {
    for (const [name, way] of Object.entries(ways))
      for (const wrong of [{ password: value }, { username: value }, { eauth: value }])
        expect([name, await way({ cmd: 'mk_token', ...password('fred'), ...wrong })]).toEqual([name, ''])
    expect(master.logged.filter((line) => line.includes('failed'))).toEqual([])
  })

  test('may not send requests of minions, nor a minion its requests: 100 such lines a minute are logged', async () => {
    const handlers = withApiClients(
      master.context,
      new Map(),
      new Map([['_return', async () => ({ done: true })]]),
    )
    const as = (id: string, cmd: string) => handlers.get(cmd)?.({}, { ...sender(), id })
    expect([await as('api-1', '_return'), await as('wire1', '_return')]).toEqual([{}, { done: true }])
    for (let time = 0; time < 102; time++) expect(await as('wire1', '_client_refusal')).toEqual({})
    expect(master.logged.filter((line) => line.startsWith('warn Refused _'))).toHaveLength(100)
  })

  test.each(['secret', '__proto__', ['ping'], { toString: 1 }, undefined])(
    'cannot pass on the command %j',
    async (cmd) => {
      expect(await send('_client_request', { load: { cmd } })).toEqual({})
      expect(await send('_client_request', { load: cmd })).toEqual({})
      expect(asked).toEqual([])
      expect(master.logged.join()).toContain('from api-1')
    },
  )

  test.each<[unknown, unknown]>([
    ['salt/job/20261122000000000001/ret/wire1', {}],
    ['salt/netapi', {}],
    [`salt/netapi/${'x'.repeat(600)}`, {}],
    ['salt/netapi/a\n\nb', {}],
    [['salt/netapi/x'], {}],
    ['salt/netapi/x', 'text'],
    ['salt/netapi/x', []],
  ])('can fire hooks with their data, and nothing else: %#', async (tag, data) => {
    expect(await send('_client_event', { tag, data })).toEqual({ fired: false })
    expect(master.events).toEqual([])
    expect(await send('_client_event', { tag: 'salt/netapi/x', data: {} })).toEqual({ fired: true })
  })

  test.each<Load>([{ jid: {} }, { jid: JID, ids: 'wire1' }, { jid: JID, ids: [{}, null] }, {}])(
    'gets no returns for %j',
    async (load) => {
      expect(await send('_client_returns', { ids: ['wire1'], ...load })).toEqual({ returns: {}, rest: [] })
      expect(await send('_client_returns', { jid: JID, ids: ['x'.repeat(5000)] })).toEqual({
        returns: {},
        rest: [],
      })
      const nothing = { denied: [], lost: [], reconnecting: [], waiting: [] }
      expect(await send('_client_silence', load)).toEqual(nothing)
    },
  )

  test('gets returns in answers of bounded size, and states only of the keys it asked for', async () => {
    const ids = ['wire1', 'wire2', 'wire3']
    for (const id of ids) {
      const ret = { id, jid: JID, fun: 'test.ping', return: 'x'.repeat(5_000_000), retcode: 0, success: true }
      await master.context.jobs.saveReturn(JID, id, ret)
    }
    expect(await send('_client_returns', { jid: JID, ids })).toMatchObject({ rest: ['wire2', 'wire3'] })
    const end = { jid: JID, fun: 'runner.test.arg', user: 'ada', fun_args: [], return: 'done', success: true }
    await storeRun(master.config, end, master.context.jobs)
    expect(await send('_client_returns', { jid: JID, run: true })).toMatchObject({
      returns: { [master.config.id]: { return: end } },
    })
    await mkdir(join(master.config.pki_dir, 'minions_denied'), { recursive: true })
    for (const id of ids)
      await writeFile(
        join(master.config.pki_dir, 'minions_denied', id),
        (await Peer.named('wire2')).key.publicKey.pem,
      )
    expect(await send('_client_silence', { ids: ['wire2'] })).toEqual({
      denied: ['wire2'],
      lost: [],
      reconnecting: [],
      waiting: [],
    })
  })
})
