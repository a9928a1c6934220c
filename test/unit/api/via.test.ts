/** The address of the HTTP client, which is sent to the master with each call. */
import { afterEach, expect, test } from 'vitest'
import type { ApiSettings } from '../../../core/api/settings.ts'
import { SLOW } from '../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../harness/test-api.ts'

const TOKEN = 'ab'.repeat(32)
const CLIENT = '192.0.2.7'

let api: TestApi
afterEach(() => api.close())

async function open(settings: Partial<ApiSettings> = {}): Promise<void> {
  api = await openTestApi({}, settings)
  api.answer = () => ({ error: { name: 'SaltMasterError', message: 'This master is a test.' } })
}

const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  api.app.inject({
    method: 'POST',
    url,
    payload,
    remoteAddress: `::ffff:${CLIENT}`,
    headers: { 'x-auth-token': TOKEN, ...headers },
  })
const get = (url: string) =>
  api.app.inject({ url, remoteAddress: CLIENT, headers: { 'x-auth-token': TOKEN } })

const credentials = { username: 'fred', password: 'x', eauth: 'file' }

test('sign-in, jobs, runners, wheel functions and logout are sent on with the address', SLOW, async () => {
  await open()
  await post('/login', credentials)
  await post('/token', credentials)
  for (const client of ['local', 'local_async', 'local_subset', 'local_batch'])
    await post('/', { client, tgt: '*', fun: 'test.ping' })
  for (const client of ['runner', 'runner_async', 'wheel', 'wheel_async'])
    await post('/run', [{ client, fun: 'test.arg', ...credentials }])
  await post('/minions', { tgt: '*', fun: 'test.ping' })
  for (const path of ['/minions', '/jobs', '/jobs/20261122000000000001', '/keys']) await get(path)
  await post('/keys', { mid: 'web1' })
  await post('/logout', {})
  expect(api.asked.map(({ cmd }) => cmd)).toEqual(
    expect.arrayContaining(['mk_token', 'publish', 'runner', 'wheel', '_revoke_token']),
  )
  expect(api.vias).toEqual(api.asked.map(() => ({ address: CLIENT })))
})

test('the address is that of the client behind a trusted proxy; other X-Forwarded-For headers do not count', async () => {
  const forwarded = { 'x-forwarded-for': '198.51.100.9' }
  await open({ trust_proxy: [CLIENT] })
  await post('/login', credentials, forwarded)
  expect(api.vias).toEqual([{ address: '198.51.100.9' }])
  await api.close()
  await open()
  await post('/login', credentials, forwarded)
  expect(api.vias).toEqual([{ address: CLIENT }])
})

test('Python masters do not pass any of it to functions', async () => {
  await open()
  await post('/', { client: 'wheel', fun: 'key.finger', match: 'web1' })
  expect(JSON.stringify(api.asked)).not.toContain(CLIENT)
})
