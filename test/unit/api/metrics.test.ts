import Fastify, { type FastifyRequest } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { addMetricsRoute, collectorToken } from '../../../core/api/metrics.ts'
import { SaltError } from '../../../core/base/errors.ts'
import { readExposition, sampleOf } from '../../harness/exposition.ts'
import { until } from '../../harness/until.ts'

const TOKEN = 'a'.repeat(64)

async function serve() {
  const app = Fastify()
  await addMetricsRoute(app, {
    authorize: async (token) => {
      if (token !== TOKEN) throw Object.assign(new Error('No'), { statusCode: 401 })
    },
    readers: () => ({ readers: 2, dropped: 1 }),
  })
  app.get('/minions/:id', async () => ({}))
  app.get('/full', async () => {
    throw new SaltError('INVOCATION', 'Too many', { limit: 'max_waits', status: 503 })
  })
  app.get('/endless', (_request, reply) => void reply.hijack().raw.writeHead(200).write(': \n'))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers })
  const read = async () =>
    readExposition(await (await get('/metrics', { 'x-auth-token': TOKEN })).text(), 'prometheus')
  return { get, read }
}

test('requests are counted by route and status, without values from their paths', async () => {
  const { get, read } = await serve()
  for (const path of ['/minions/web1', '/minions/web2', '/nothing', '/full']) await get(path)
  const families = await read()
  const count = (route: string, status: string) =>
    sampleOf(families, 'salt_api_request_duration_seconds_count', { route, status })
  expect(count('/minions/:id', '200')).toBe(2)
  expect(count('none', '404')).toBe(1)
  expect(sampleOf(families, 'salt_api_limits_hit_total', { limit: 'max_waits' })).toBe(1)
  expect(sampleOf(families, 'salt_api_readers')).toBe(2)
  expect(sampleOf(families, 'salt_api_readers_dropped_total')).toBe(1)
  expect(sampleOf(families, 'salt_build_info', { program: 'salt-api' })).toBe(1)
})

test('clients without permission are refused; a collector sends its token as a bearer token', async () => {
  const { get } = await serve()
  expect((await get('/metrics')).status).toBe(401)
  const stranger = await get('/metrics', { authorization: 'Bearer no' })
  expect([stranger.status, await stranger.text()]).toEqual([401, expect.not.stringContaining('salt_')])
  const bearer = { authorization: `Bearer ${TOKEN}`, accept: 'application/openmetrics-text' }
  const answer = await get('/metrics', bearer)
  expect(answer.headers.get('content-type')).toMatch(/^application\/openmetrics-text; version=1\.0\.0/)
  readExposition(await answer.text(), 'openmetrics')
})

test('a stream is counted as open until it is closed', async () => {
  const { get, read } = await serve()
  const open = async () => sampleOf(await read(), 'salt_api_requests_open')
  expect(await open()).toBe(1)
  const stream = await get('/endless')
  expect(await open()).toBe(2)
  await stream.body?.cancel()
  await until('the stream to be closed', async () => (await open()) === 1)
  expect(sampleOf(await read(), 'salt_api_request_duration_seconds_count', { route: '/endless' })).toBe(1)
})

test('a token is accepted in every place where collectors and clients send it', () => {
  const token = (headers: object) => collectorToken({ headers } as FastifyRequest)
  expect(token({ authorization: 'bearer abc' })).toBe('abc')
  expect(token({ authorization: 'Basic abc', 'x-auth-token': 'def' })).toBe('def')
  expect(token({})).toBeUndefined()
})
