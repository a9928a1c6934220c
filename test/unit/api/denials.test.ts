/** Refusals of the server go into the audit log of the master, without secrets. */
import { afterEach, expect, test } from 'vitest'
import type { ApiSettings } from '../../../core/api/settings.ts'
import type { MasterOptions } from '../../../core/config/index.ts'
import { openTestApi, type TestApi } from '../../harness/test-api.ts'

const CANARY = 'c4n4ry-secret'
const UNKNOWN = 'cd'.repeat(32)
const via = { address: '192.0.2.7' }

let api: TestApi
afterEach(async () => {
  expect(JSON.stringify(api.refused)).not.toContain(CANARY)
  expect(JSON.stringify(api.refused)).not.toContain(UNKNOWN)
  await api.close()
})

async function open(settings: Partial<ApiSettings> = {}, options: Partial<MasterOptions> = {}) {
  api = await openTestApi(options, settings)
  api.answer = ({ cmd }) => (cmd === 'get_token' ? {} : false)
}

const ask = async (url: string, headers: Record<string, string> = {}, payload?: object): Promise<number> => {
  const method = payload ? 'POST' : 'GET'
  const remoteAddress = `::ffff:${via.address}`
  return (await api.app.inject({ method, url, headers, remoteAddress, ...(payload && { payload }) }))
    .statusCode
}
const refused = { act: 'request', user: '', via }

test('calls without credentials, and with an invalid token, are sent to the master', async () => {
  await open()
  const wheel = { client: 'wheel', fun: 'key.delete', match: CANARY, username: 'eve', password: CANARY }
  expect(await ask('/', {}, [wheel])).toBe(401)
  expect(await ask('/minions/web1', { 'x-auth-token': `../${CANARY}` })).toBe(401)
  expect(await ask('/run', {}, [wheel])).toBe(401)
  expect(await ask('/run', {}, [{ client: 'runner_async', fun: 'jobs.active', token: CANARY }])).toBe(401)
  expect(
    await ask('/run', {}, [
      { client: 'local', tgt: '*', fun: ['test.ping', 'cmd.run'], arg: [[], [CANARY]] },
    ]),
  ).toBe(401)
  const nothing = 'No authentication credentials given'
  expect(api.refused).toEqual([
    { ...refused, request: 'POST /', reason: nothing },
    { ...refused, request: 'GET /minions/:id?', reason: 'Invalid token' },
    { ...refused, request: 'POST /run', act: 'wheel', user: 'eve', fun: 'key.delete', reason: nothing },
    { ...refused, request: 'POST /run', act: 'runner', fun: 'jobs.active', reason: 'Invalid token' },
    { ...refused, request: 'POST /run', act: 'publish', fun: 'test.ping,cmd.run', reason: nothing },
  ])
  expect(api.asked).toEqual([])
})

test('tokens that the master does not know are sent to it if it was only asked for their user', async () => {
  await open()
  for (const path of ['/events', `/events?token=${UNKNOWN}`, '/stats', `/ws/${UNKNOWN}`])
    await ask(path, path === '/stats' ? { 'x-auth-token': UNKNOWN } : {})
  expect(await ask('/hook/build', { 'x-auth-token': UNKNOWN }, { secret: CANARY })).toBe(401)
  expect(await ask('/logout', { 'x-auth-token': UNKNOWN }, {})).toBe(401)
  const reason = expect.stringContaining('There is no token, or it is unknown')
  expect(api.refused).toEqual([
    { ...refused, request: 'GET /events', reason },
    { ...refused, request: 'GET /events', reason },
    { ...refused, request: 'GET /stats', reason },
    { ...refused, request: 'POST /hook/*', reason },
    { ...refused, act: 'logout', request: 'POST /logout', reason: 'This token is unknown or was revoked.' },
  ])
})

test('calls of clients that are not enabled are sent to the master', async () => {
  await open({}, { netapi_enable_clients: ['local'] })
  const command = { client: 'wheel', fun: 'key.accept', username: 'fred', password: CANARY, eauth: 'file' }
  expect(await ask('/run', {}, [command])).toBe(400)
  expect(api.refused).toMatchObject([
    { act: 'wheel', user: 'fred', fun: 'key.accept', rule: 'netapi_enable_clients' },
  ])
})

test('requests and log-ins from addresses that are not allowed are sent to the master', async () => {
  await open({ authorized_ips: ['10.0.0.0/8'] })
  expect(await ask(`/nothing/${CANARY}`)).toBe(403)
  expect(api.refused).toEqual([{ ...refused, request: 'GET', rule: 'authorized_ips', reason: 'Bad IP' }])
  await api.close()
  await open({ api_acl: { users: { fred: ['10.0.0.1'] } } })
  expect(await ask('/login', {}, { username: 'fred', password: CANARY, eauth: 'file' })).toBe(401)
  expect(api.refused).toMatchObject([{ act: 'login', user: 'fred', rule: 'api_acl', request: 'POST /login' }])
})

test('requests of pages of another origin, with the session of a user, are sent to the master', async () => {
  await open()
  const headers = { cookie: `session_id=${UNKNOWN}`, origin: 'https://evil.example' }
  expect(await ask('/minions', headers)).toBe(403)
  expect(api.refused).toMatchObject([
    { ...refused, rule: 'cors_origin', reason: expect.stringContaining('evil.example') },
  ])
})

test('a lockout after wrong passwords is sent to the master, and not each refused guess after it', async () => {
  await open({ login_attempts: 3 })
  for (let n = 0; n < 50; n++)
    await ask('/login', {}, { username: 'fred', password: `${CANARY}${n}`, eauth: 'file' })
  expect(api.refused).toEqual(
    ['from 192.0.2.7', 'for "fred"'].map((who) => ({
      ...refused,
      act: 'login',
      user: 'fred',
      request: 'POST /login',
      rule: 'login_attempts',
      reason: `Too many wrong passwords or tokens ${who}: no more are checked for 300 s.`,
    })),
  )
})

test('long texts of refused clients are truncated', async () => {
  await open()
  const long = 'x'.repeat(100_000)
  await ask('/run', {}, [{ client: 'runner', fun: long, username: long }])
  await ask('/minions', { cookie: `session_id=${UNKNOWN}`, origin: `https://${'x'.repeat(10_000)}` })
  expect(api.refused).toHaveLength(2)
  for (const line of api.refused) expect(JSON.stringify(line).length).toBeLessThan(1_000)
})

test('decisions of the master, invalid requests and exceeded limits are not sent', async () => {
  await open({ requests_per_minute: 4 })
  expect(await ask('/login', {}, { username: 'fred', password: CANARY, eauth: 'file' })).toBe(401)
  expect(await ask('/nowhere')).toBe(404)
  expect(await ask('/run', {}, [{ client: 'ssh' }])).toBe(400)
  expect(await ask('/logout')).toBe(405)
  expect(await ask('/minions')).toBe(429)
  expect(api.refused).toEqual([])
})
