import { expect, onTestFinished, test } from 'vitest'
import { readExposition, sampleOf } from '../../harness/exposition.ts'
import { openTestApi } from '../../harness/test-api.ts'

const TOKEN = 'b'.repeat(64)
const accept = 'application/openmetrics-text; version=1.0.0'

async function serve(settings: Parameters<typeof openTestApi>[1]) {
  const api = await openTestApi({}, settings)
  onTestFinished(() => api.close())
  api.answer = ({ cmd, token }) =>
    cmd === 'get_token' && token === TOKEN ? { name: 'ada', expire: Date.now() / 1000 + 60 } : {}
  const get = (headers: Record<string, string>, url = '/metrics') => api.app.inject({ url, headers })
  return get
}

test('/metrics is served to collectors with a token', async () => {
  const get = await serve({})
  expect((await get({ accept })).statusCode).toBe(401)
  const answer = await get({ accept, authorization: `Bearer ${TOKEN}` })
  expect(answer.statusCode).toBe(200)
  const families = readExposition(answer.body, 'openmetrics')
  const labels = { route: '/metrics', status: '401' }
  expect(sampleOf(families, 'salt_api_request_duration_seconds_count', labels)).toBe(1)
  expect(sampleOf(families, 'salt_api_readers')).toBe(0)
})

test('stats_disable_auth serves it without a token; with metrics: false it does not exist', async () => {
  const open = await serve({ stats_disable_auth: true })
  expect((await open({ accept: 'text/plain' })).headers['content-type']).toMatch(
    /^text\/plain; version=0\.0\.4/,
  )
  const none = await serve({ metrics: false, stats_disable_auth: true })
  expect((await none({ accept: '*/*' })).statusCode).toBe(404)
})

test('/stats returns statistics to clients with a token, and none with collect_stats: false', async () => {
  const headers = { 'x-auth-token': TOKEN }
  const get = await serve({})
  expect((await get({}, '/stats')).statusCode).toBe(401)
  expect((await get(headers, '/stats')).json()).toMatchObject({
    'CherryPy Applications': { Enabled: true, 'Total Requests': 2 },
  })
  const none = await serve({ collect_stats: false })
  expect((await none(headers, '/stats')).json()).toEqual({})
})
