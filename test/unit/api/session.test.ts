/** Signing in and out, and allowed addresses, with a master that the test plays. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SaltError } from '../../../core/base/errors.ts'
import { SLOW } from '../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../harness/test-api.ts'

const TOKEN = 'ab'.repeat(32)
const credentials = { eauth: 'pam', username: 'alice', password: 'x' }
const made = { token: TOKEN, name: 'alice', eauth: 'pam', start: 1795347288.5, expire: 1995390488.5 }

let api: TestApi

async function open(...settings: Parameters<typeof openTestApi>): Promise<void> {
  await api?.close()
  api = await openTestApi(...settings)
  api.answer = ({ cmd, password, token }) => {
    if (cmd === '_revoke_token') return token === TOKEN
    return password === 'x' ? made : ''
  }
}

beforeEach(() => open())
afterEach(async () => {
  await api.close()
})

const post = (url: string, body: unknown = undefined, headers: object = {}) =>
  api.app.inject({
    method: 'POST',
    url,
    headers: { ...headers },
    ...(body !== undefined && { body: body as object }),
  })

test(
  '/login returns the token in the answer, a header and a cookie, with the permissions of its owner',
  SLOW,
  async () => {
    const external_auth = {
      pam: { alice: ['test.*', '@runner', { web: ['x'] }], '*': ['grains.*', 'test.*'], bob: ['.*'] },
    }
    await open({ external_auth })
    const answer = await post('/login', { ...credentials, token_expire: 60 })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['x-auth-token']).toBe(TOKEN)
    expect(answer.headers['set-cookie']).toMatch(
      new RegExp(`^session_id=${TOKEN}; Path=/; Max-Age=\\d+; HttpOnly; SameSite=Strict$`),
    )
    const { token, start, expire, eauth } = made
    const perms = ['@runner', 'grains.*', 'test.*', { web: ['x'] }]
    expect(answer.json()).toEqual({ return: [{ token, start, expire, eauth, user: 'alice', perms }] })
    expect(api.asked).toEqual([{ ...credentials, token_expire: 60, cmd: 'mk_token' }])
  },
)

test('/login accepts forms, and a list with one map', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await post('/login', 'username=alice&password=x&eauth=pam&token_expire=60', form)
  expect(answer.json().return[0].perms).toEqual({})
  expect(api.asked[0]).toMatchObject({ token_expire: 60 })
  expect((await post('/login/', [credentials])).statusCode).toBe(200)
})

test('/login refuses a body without credentials, and sends no other members to the master', async () => {
  const wrong = await post('/login', { ...credentials, password: 'y', cmd: 'ping' })
  expect(wrong.json()).toEqual({ status: 401, return: 'Could not authenticate using provided credentials' })
  expect(wrong.headers['set-cookie']).toBeUndefined()
  expect(api.asked[0]).toMatchObject({ cmd: 'mk_token' })
  for (const body of [undefined, 'text', [], ['x']])
    expect((await post('/login', body, { 'content-type': 'application/json' })).statusCode).toBe(400)
  expect((await api.app.inject('/login')).json()).toEqual({ status: null, return: 'Please log in' })
})

test.each([{ toString: 1 }, [{ toString: null }], 2 ** 60])(
  'credentials that cannot be text are refused: %#',
  SLOW,
  async (odd) => {
    for (const wrong of [{ username: odd }, { eauth: odd }, { client: odd }, { fun: odd }])
      for (const url of ['/login', '/token', '/run', '/']) {
        const answer = await post(url, {
          ...credentials,
          client: 'runner',
          fun: 'x',
          password: 'y',
          ...wrong,
        })
        expect([url, wrong, answer.statusCode]).not.toContain(500)
      }
  },
)

test('/logout revokes the token', async () => {
  const answer = await post('/logout', undefined, { 'x-auth-token': TOKEN })
  expect(answer.json()).toEqual({ return: 'Your token has been cleared' })
  expect(answer.headers['set-cookie']).toMatch(/^session_id=; Path=\/; Max-Age=0/)
  expect(api.asked).toEqual([{ cmd: '_revoke_token', token: TOKEN }])
  expect((await post('/logout', undefined, { 'x-auth-token': 'cd' })).statusCode).toBe(401)
  expect((await post('/logout')).statusCode).toBe(401)
})

test('/logout reports that the master cannot revoke tokens, or cannot do so now', async () => {
  const { answer } = api
  api.answer = () => 'Some exception handling minion payload' // of Python Salt
  const unknown = await post('/logout', undefined, { 'x-auth-token': TOKEN })
  expect([unknown.statusCode, unknown.json().return]).toEqual([200, expect.stringContaining('cannot revoke')])
  api.answer = () => ({ error: { name: 'SaltMasterError', message: 'Try again later.' } })
  const away = await post('/logout', undefined, { 'x-auth-token': TOKEN })
  expect([away.statusCode, away.json().return]).toEqual([503, 'Try again later.'])
  api.answer = answer
})

test('/token returns tokens for a map of credentials or a list of them', async () => {
  expect((await post('/token', credentials)).json()).toEqual([made])
  expect((await post('/token', [credentials, credentials])).json()).toEqual([made, made])
  const { eauth, ...without } = credentials
  expect((await post('/token', without)).json()).toEqual({
    status: 400,
    return: 'Require "username", "password", and "eauth" params',
  })
  expect((await post('/token', { ...credentials, password: 'y' })).statusCode).toBe(401)
})

test('api_acl limits the addresses to sign in from, before the master is asked', SLOW, async () => {
  const may = async (users: object, username = 'alice') => {
    await open({}, { api_acl: { users } })
    return (await post('/login', { ...credentials, username })).statusCode
  }
  expect(await may({ alice: ['127.0.0.0/8'] })).toBe(200)
  expect(await may({ alice: ['*'] })).toBe(200)
  expect(await may({ '*': ['127.0.0.1'] })).toBe(200)
  expect(await may({ alice: ['10.0.0.1', 'nonsense'], '*': ['*'] })).toBe(401)
  expect(await may({ bob: ['*'] })).toBe(401)
  expect(api.asked).toEqual([])
})

test('another spelling of a name has the same addresses', async () => {
  await open({}, { api_acl: { users: { alice: ['10.0.0.1'], '*': ['*'] } } })
  for (const username of ['Alice', ' alice', 'ａｌｉｃｅ'])
    expect((await post('/login', { ...credentials, username })).statusCode).toBe(401)
  api.answer = () => ({ ...made, name: 'anna' })
  expect((await post('/login', { ...credentials, username: 'anna' })).statusCode).toBe(200)
})

test('who is not named, as with oidc, has the addresses that everybody has', async () => {
  const { username: _, ...nameless } = credentials
  for (const [users, status] of [
    [{ alice: ['10.0.0.1'], '*': ['*'] }, 401],
    [{ bob: ['*'] }, 401],
    [{ bob: ['127.0.0.1'], '*': ['*'] }, 200],
  ] as const) {
    await open({}, { api_acl: { users } })
    expect([users, (await post('/login', nameless)).statusCode]).toEqual([users, status])
  }
})

test('a user whom the backend finds by another name has the addresses of their own, and else gets no token', async () => {
  await open({}, { api_acl: { users: { alice: ['10.0.0.1'], '*': ['*'] } } })
  const answer = await post('/login', { ...credentials, username: 'alice@example.com' })
  expect([answer.statusCode, answer.body.includes(TOKEN)]).toEqual([401, false])
  expect(api.asked.at(-1)).toEqual({ cmd: '_revoke_token', token: TOKEN })
})

describe('api_acl is asked wherever a password is checked', () => {
  const calls: [string, object | object[]][] = [
    ['/login', {}],
    ['/token', {}],
    ['/token', [{}]],
    ...['local', 'local_async', 'local_batch', 'local_subset'].map((client): [string, object] => [
      '/run',
      [{ client, tgt: '*', fun: 'test.ping' }],
    ]),
    ...['runner', 'runner_async', 'wheel', 'wheel_async'].map((client): [string, object] => [
      '/run',
      [{ client, fun: 'test.arg' }],
    ]),
    ['/keys', { mid: 'web9' }],
  ]
  const withCredentials = (body: object) =>
    Array.isArray(body) ? body.map((chunk) => ({ ...chunk, ...credentials })) : { ...body, ...credentials }

  test.each(calls)('%s %j', async (url, body) => {
    await open({}, { api_acl: { users: { alice: ['10.0.0.1'], '*': ['*'] } } })
    const answer = await post(url, withCredentials(body))
    const refusal = { status: 401, return: 'Could not authenticate using provided credentials' }
    expect([answer.statusCode, answer.json()]).toEqual([401, refusal])
    expect([api.asked, api.refused]).toMatchObject([[], [{ user: 'alice', rule: 'api_acl' }]])
    await api.app.inject({ method: 'POST', url, body: withCredentials(body), remoteAddress: '10.0.0.1' })
    expect(api.asked).not.toEqual([])
  })
})

test('a token may be used from anywhere', async () => {
  await open({}, { api_acl: { users: { alice: ['10.0.0.1'] } } })
  const call = [{ client: 'wheel', fun: 'key.list_all' }]
  await post('/run', [{ ...call[0], token: TOKEN }])
  await post('/run', call, { 'x-auth-token': TOKEN })
  expect(api.asked).toHaveLength(2)
})

test('only addresses of authorized_ips are served', async () => {
  await open({}, { authorized_ips: ['10.0.0.0/8'] })
  expect((await api.app.inject('/')).json()).toEqual({
    status: 403,
    return: 'Bad IP',
    rule: 'authorized_ips',
  })
  expect((await api.app.inject({ url: '/', remoteAddress: '10.1.2.3' })).statusCode).toBe(200)
  expect((await api.app.inject({ url: '/', remoteAddress: '::ffff:10.1.2.3' })).statusCode).toBe(200)
})

test('without enable_sessions no cookie is set or accepted', async () => {
  await open({}, { enable_sessions: false })
  expect((await post('/login', credentials)).headers['set-cookie']).toBeUndefined()
  expect((await post('/logout', undefined, { cookie: `session_id=${TOKEN}` })).statusCode).toBe(401)
})

test('pages of origins in cors_origin may send requests; without the option none', async () => {
  const headers = { origin: 'http://a.example', 'access-control-request-method': 'POST' }
  const preflight = async () => {
    const { statusCode, headers: given } = await api.app.inject({ method: 'OPTIONS', url: '/', headers })
    return [statusCode, given['access-control-allow-origin'], given['access-control-allow-credentials']]
  }
  expect(await preflight()).toEqual([204, undefined, undefined])
  await open({}, { cors_origin: ['http://a.example'] })
  expect(await preflight()).toEqual([200, 'http://a.example', 'true'])
  await open({}, { cors_origin: ['http://b.example'] })
  expect((await preflight())[1]).toBeUndefined()
  await open({}, { cors_origin: ['*'] })
  expect(await preflight()).toEqual([200, '*', undefined])
})

test('a long answer is compressed for clients that accept gzip', async () => {
  const external_auth = { pam: { alice: Array.from({ length: 200 }, (_, number) => `m${number}.x`) } }
  await open({ external_auth })
  const packed = await post('/login', credentials, { 'accept-encoding': 'gzip, deflate' })
  expect(packed.headers['content-encoding']).toBe('gzip')
  expect(packed.rawPayload.length).toBeLessThan(1_500)
  expect((await post('/login', credentials)).headers['content-encoding']).toBeUndefined()
  const refusing = await post('/login', credentials, { 'accept-encoding': 'gzip;q=0' })
  expect(refusing.headers['content-encoding']).toBeUndefined()
})

test('paths may begin with a prefix, and end with a slash', async () => {
  await open({}, { root_prefix: '/salt/' })
  expect((await api.app.inject('/salt')).json().return).toBe('Welcome')
  expect((await api.app.inject('/salt/login/')).statusCode).toBe(200)
  expect((await api.app.inject('/login')).statusCode).toBe(404)
})

test('no answer reveals the address of the master, or the path of the configuration', async () => {
  const said =
    'The master is not responding on port 4506 of 127.0.0.1 (configuration in /etc/salt, sockets in /run).'
  api.answer = () => {
    throw new SaltError('MASTER_UNREACHABLE', said)
  }
  const chunk = { client: 'wheel', fun: 'key.list_all', username: 'fred', password: 'x', eauth: 'pam' }
  for (const path of ['/login', '/run', '/hook'])
    expect((await post(path, chunk, { 'x-auth-token': TOKEN })).json()).toEqual({
      status: 503,
      return: 'The master does not answer. The log of this server says why.',
    })
})

test.each(['/token', '/login'])(
  '%s accepts no more credentials in one request than max_chunks',
  async (path) => {
    await open({}, { max_chunks: 3 })
    const answer = await post(path, Array(4).fill(credentials))
    expect([answer.statusCode, answer.json().return]).toEqual([
      400,
      'A request may have at most 3 maps (max_chunks).',
    ])
    expect(api.asked).toEqual([])
  },
)
