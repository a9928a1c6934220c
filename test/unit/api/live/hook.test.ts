import { afterEach, expect, test } from 'vitest'
import type { Event } from '../../../../core/events/index.ts'
import { ApiConnection } from '../../../harness/api-connection.ts'
import { openTestApi, type TestApi } from '../../../harness/test-api.ts'

const TOKEN = 'ab'.repeat(32)

let api: TestApi

async function open(settings: Parameters<typeof openTestApi>[1] = {}) {
  api = await openTestApi({}, settings)
  const expire = Date.now() / 1000 + 3600
  api.answer = ({ cmd, token }) => (cmd === 'get_token' && token === TOKEN ? { name: 'fred', expire } : {})
}
afterEach(() => api.close())

/** Return the event that an accepted request fires. */
async function fired(
  url: string,
  payload: string,
  type: string,
  headers: Record<string, string> = { 'x-auth-token': TOKEN },
): Promise<Event> {
  const events = api.events.subscribe('salt/netapi/')
  const answer = await api.app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': type, ...headers },
  })
  expect(answer.json()).toEqual({ success: true })
  for await (const event of events) return event
  throw new Error('no event')
}

test('the body of a request becomes an event, with the path in its tag', async () => {
  await open()
  const { tag, data } = await fired('/hook/my/app', '{"a": 1}', 'application/json', {
    'X-Auth-Token': TOKEN,
    Authorization: 'Basic c4n4ry',
    Cookie: 'session_id=c4n4ry',
    'X-My-Key': 'k',
  })
  expect(tag).toBe('salt/netapi/hook/my/app')
  expect(data).toMatchObject({
    body: '{"a": 1}',
    post: { a: 1 },
    headers: { 'Content-Type': 'application/json', 'X-My-Key': 'k', 'Remote-Addr': '127.0.0.1' },
  })
  expect(JSON.stringify(data)).not.toMatch(/c4n4ry|abab/)
})

test.each([
  ['application/x-www-form-urlencoded', 'foo=Foo%21&b=1&b=2', { foo: 'Foo!', b: ['1', '2'] }],
  ['application/x-www-form-urlencoded', 'arg=5&kwarg={a: [1]}&empty=', { arg: [5], kwarg: { a: [1] } }],
  ['application/json; charset=utf-8', '[9007199254740993, 2]', [9007199254740993n, 2]],
  ['application/x-yaml', 'a: [1, 2]', { a: [1, 2] }],
  ['text/plain', 'just text', 'just text'],
  ['text/plain', '[1]', [1]],
  ['application/octet-stream', 'x', {}],
])('%s: %s', async (type, body, post) => {
  await open()
  const { tag, data } = await fired('/hook', body, type)
  expect([tag, data.body, data.post]).toEqual(['salt/netapi/hook', body, post])
})

test.each(['..', 'a/%2e%2e/b', 'a%0a%0ab', 'a%00', 'x'.repeat(600)])(
  'the path /hook/%s is refused as a tag',
  async (path) => {
    await open()
    const events = api.events.subscribe('salt/')
    await api.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = api.app.server.address() as { port: number }
    const request = `POST /hook/${path} HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${TOKEN}\r\nConnection: close\r\n\r\n`
    const answer = await (await ApiConnection.open(port, request)).ended()
    expect(answer).toMatch(/^HTTP\/1.1 4/)
    await api.events.fire('salt/after', {})
    for await (const { tag } of events) {
      expect(tag).toBe('salt/after')
      break
    }
  },
)

test('without a token no event is fired, unless webhook_disable_auth allows it; webhook_url moves the path', async () => {
  await open()
  const post = (url: string) => api.app.inject({ method: 'POST', url, payload: {} })
  expect((await post('/hook/x')).statusCode).toBe(401)
  await api.close()
  await open({ webhook_disable_auth: true, webhook_url: '/callback' })
  expect((await fired('/callback/x', '{}', 'application/json', {})).tag).toBe('salt/netapi/hook/x')
  expect((await post('/hook/x')).statusCode).toBe(404)
})

test.each([
  ['application/json', '{', 400, /^Invalid JSON document: /],
  [
    'application/x-yaml',
    `a: &a ${'x'.repeat(99_000)}\nb: [${'*a, '.repeat(90)}]`,
    413,
    /^The request is larger/,
  ],
])(
  'a body that is no %s, or that expands without end, is refused with the reason',
  async (type, payload, status, sentence) => {
    await open()
    const headers = { 'x-auth-token': TOKEN, 'content-type': type }
    const answer = await api.app.inject({ method: 'POST', url: '/hook', payload, headers })
    expect([answer.statusCode, answer.json().return]).toEqual([status, expect.stringMatching(sentence)])
  },
)
