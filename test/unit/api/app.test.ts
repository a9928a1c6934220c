import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openTestApi, type TestApi } from '../../harness/test-api.ts'

let api: TestApi
let app: FastifyInstance

beforeEach(async () => {
  api = await openTestApi()
  app = api.app
})
afterEach(() => api.close())

test('/ returns a welcome and the clients', async () => {
  const answer = await app.inject('/')
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['content-type']).toBe('application/json')
  expect(answer.json()).toMatchObject({
    return: 'Welcome',
    clients: expect.arrayContaining(['local', 'wheel']),
  })
})

test('nothing is printed while its schemas are read', async () => {
  const warn = vi.spyOn(console, 'warn')
  const other = await openTestApi()
  await other.app.ready()
  expect(warn).not.toHaveBeenCalled()
  warn.mockRestore()
  await other.close()
})

test('an answer is in the format that the Accept header prefers', async () => {
  const accepting = async (accept: string) => {
    const { headers, body, statusCode } = await app.inject({ url: '/', headers: { accept } })
    return [statusCode, headers['content-type'], body.slice(0, 20)]
  }
  expect(await accepting('application/x-yaml')).toEqual([
    200,
    'application/x-yaml; charset=utf-8',
    'clients:\n- local\n- l',
  ])
  expect(await accepting('text/html,application/xml;q=0.9,*/*;q=0.8')).toEqual([
    200,
    'text/html; charset=utf-8',
    '<!doctype html>\n<htm',
  ])
  expect(await accepting('application/json;q=0.5, application/x-yaml;q=0.6')).toEqual(
    await accepting('application/x-yaml'),
  )
  expect((await accepting('*/*'))[1]).toBe('application/json')
  expect((await accepting('application/json;q=0, */*'))[1]).toBe('application/x-yaml; charset=utf-8')
})

test('an Accept header without a supported format is answered with 406, in JSON', async () => {
  const answer = await app.inject({ url: '/', headers: { accept: 'image/png' } })
  expect(answer.statusCode).toBe(406)
  expect(answer.json()).toEqual({
    status: 406,
    return:
      'This server cannot answer in image/png. It has: application/json, application/x-yaml, text/yaml, text/html.',
  })
})

test('an unknown path is answered with 404, another method with 405, and HTML is escaped', async () => {
  const missing = await app.inject({ url: '/<script>alert(1)</script>', headers: { accept: 'text/html' } })
  expect(missing.statusCode).toBe(404)
  expect(missing.body).not.toContain('<script>')
  const answer = await app.inject({ url: '/', method: 'DELETE' })
  expect([answer.statusCode, answer.json().return]).toEqual([405, '/ takes GET and POST, but not DELETE.'])
})

test.each([[], ['*'], ['http://a.example']].map((cors_origin) => ({ cors_origin })))(
  'OPTIONS is answered with the methods of a path: %j',
  async (settings) => {
    const other = await openTestApi({}, settings)
    const options = async (url: string) => {
      const { statusCode, headers, body } = await other.app.inject({ method: 'OPTIONS', url })
      return [statusCode, headers.allow, body]
    }
    expect(await options('/')).toEqual([204, 'GET, POST, OPTIONS', ''])
    expect(await options('/minions/web1')).toEqual([204, 'GET, OPTIONS', ''])
    expect(await options('/run')).toEqual([204, 'POST, OPTIONS', ''])
    const missing = '{"status": 404, "return": "There is nothing at /nothing."}'
    expect(await options('/nothing')).toEqual([404, undefined, missing])
    await other.close()
  },
)

test('paths outside of root_prefix are answered as all others', async () => {
  const other = await openTestApi({}, { root_prefix: '/salt' })
  const missing = await other.app.inject('/login?token=secret')
  expect([missing.statusCode, missing.json()]).toEqual([
    404,
    { status: 404, return: 'There is nothing at /login.' },
  ])
  const inside = await other.app.inject('/salt/nothing')
  expect([inside.statusCode, inside.json().return]).toEqual([404, 'There is nothing at /salt/nothing.'])
  const options = await other.app.inject({ method: 'OPTIONS', url: '/salt/login' })
  expect([options.statusCode, options.headers.allow]).toEqual([204, 'GET, POST, OPTIONS'])
  await other.close()
})
