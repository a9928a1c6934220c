import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ApiConnection } from '../../../harness/api-connection.ts'
import { SLOW } from '../../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../../harness/test-api.ts'
import { until } from '../../../harness/until.ts'

const TOKEN = 'ab'.repeat(32)
const JID = '20260101000000000001'

let api: TestApi
let port: number
let clients: WebSocket[]

async function open(settings: Parameters<typeof openTestApi>[1] = {}) {
  api = await openTestApi({}, settings)
  const expire = Date.now() / 1000 + 3600
  api.answer = ({ cmd, token }) => (cmd === 'get_token' && token === TOKEN ? { name: 'fred', expire } : {})
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  port = (api.app.server.address() as { port: number }).port
}

beforeEach(() => {
  clients = []
})
afterEach(async () => {
  for (const client of clients) client.terminate()
  await api.close()
})

interface Client {
  readonly messages: string[]
  readonly socket: WebSocket
  readonly over: Promise<{ code: number; reason: string }>
}

async function connect(path: string, options: { headers?: Record<string, string> } = {}): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, options)
  clients.push(socket)
  const messages: string[] = []
  socket.on('message', (message) => messages.push(String(message)))
  const over = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return { messages, socket, over }
}

async function ready(client: Client): Promise<Client> {
  const before = api.events
  client.socket.send('websocket client ready')
  // The server does not acknowledge the message, so events are sent until one arrives.
  await until('the first event', async () => {
    await before.fire('probe', {})
    await before.fire(`salt/job/${JID.replace('1', '2')}/new`, { minions: [], fun: 'probe' })
    return client.messages.length > 0
  })
  return client
}

/** Return the messages with these tags, without the probes. */
const about = (client: Client, text: string): string[] =>
  client.messages.filter((each) => each.includes(text))

test('/ws sends events once the client is ready', SLOW, async () => {
  await open()
  const client = await connect('/ws', { headers: { 'X-Auth-Token': TOKEN } })
  const heard = api.events.subscribe('early')
  await api.events.fire('early', {})
  for await (const _ of heard) break
  await ready(client)
  await api.events.fire('custom/tag', { n: 1 })
  await until('the event', () => about(client, 'custom/tag').length > 0)
  expect(about(client, 'custom/tag')[0]).toMatch(
    /^data: \{"tag": "custom\/tag", "data": \{"n": 1, "_stamp": "[^"]+"\}\}\n\n$/,
  )
  expect(about(client, 'early')).toEqual([])
})

test('/all_events of rest_tornado sends the event alone', async () => {
  await open()
  const client = await ready(await connect(`/all_events/${TOKEN}`))
  await api.events.fire('custom/tag', { n: 1 })
  await until('the event', () => about(client, 'custom/tag').length > 0)
  expect(JSON.parse(about(client, 'custom/tag')[0]!)).toMatchObject({ tag: 'custom/tag', data: { n: 1 } })
})

test.each([`/ws/${TOKEN}?format_events`, `/formatted_events/${TOKEN}`])(
  '%s: jobs as they are now',
  SLOW,
  async (path) => {
    await open({ events: 'all' })
    const client = await ready(await connect(path))
    await api.events.fire(`salt/job/${JID}/new`, {
      jid: JID,
      minions: ['web1', 'web2'],
      fun: 'test.ping',
      tgt: '*',
      tgt_type: 'glob',
    })
    for (const id of ['web1', 'web2'])
      await api.events.fire(`salt/job/${JID}/ret/${id}`, { id, return: true, retcode: 0, success: true })
    await until('the end of the job', () => about(client, '"complete"').some((each) => each.includes(JID)))
    const { jobs } = JSON.parse(about(client, JID).at(-1)!)
    const returned = { return: true, retcode: 0, success: true }
    expect(jobs[JID]).toEqual({
      jid: JID,
      fun: 'test.ping',
      tgt: '*',
      tgt_type: 'glob',
      state: 'complete',
      start_time: expect.any(String),
      minions: { web1: returned, web2: returned },
    })
  },
)

test('minions are a list for rest_cherrypy, and by id for rest_tornado', SLOW, async () => {
  await open({ events: 'all' })
  const cherrypy = await ready(await connect(`/ws/${TOKEN}?format_events`))
  const tornado = await ready(await connect(`/formatted_events/${TOKEN}`))
  await api.events.fire('salt/key', { act: 'accept', id: 'web1', result: true })
  await until('both', () => [cherrypy, tornado].every((client) => about(client, 'web1').length > 0))
  expect(JSON.parse(about(cherrypy, 'web1')[0]!)).toEqual({ minions: [{ id: 'web1' }] })
  expect(JSON.parse(about(tornado, 'web1')[0]!)).toEqual({ minions: { web1: { id: 'web1' } } })
})

const refusalOf = (path: string, headers: Record<string, string> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
    clients.push(socket)
    socket.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode ?? 0))
    socket.once('open', () => reject(new Error('It was opened.')))
    socket.on('error', () => {})
  })

test('a page of another origin cannot use the cookie of its reader', async () => {
  await open()
  const Cookie = `session_id=${TOKEN}`
  expect(await refusalOf('/ws', { Cookie, Origin: 'https://evil.example' })).toBe(403)
  expect(await refusalOf(`/ws/${TOKEN}`, { Origin: 'https://evil.example' })).toBe(403)
  await connect('/ws', { headers: { Cookie, Origin: `http://127.0.0.1:${port}` } })
})

test('cors_origin lists pages that may connect; * allows every page, but not with the cookie', async () => {
  await open({ cors_origin: ['https://console.example'] })
  const Cookie = `session_id=${TOKEN}`
  await connect('/ws', { headers: { Cookie, Origin: 'https://console.example' } })
  await api.close()
  await open({ cors_origin: ['*'] })
  expect(await refusalOf('/ws', { Cookie, Origin: 'https://evil.example' })).toBe(403)
  await connect(`/ws/${TOKEN}`, { headers: { Origin: 'https://evil.example' } })
})

test.each(['/ws', '/ws/nohex', `/ws/${'cd'.repeat(32)}`, '/all_events/x', '/formatted_events/x'])(
  'without a valid token no websocket is opened: %s',
  async (path) => {
    await open()
    expect(await refusalOf(path)).toBe(401)
  },
)

test('an ordinary request to /ws is refused with a sentence', async () => {
  await open()
  const answer = await api.app.inject({ url: '/ws', headers: { 'x-auth-token': TOKEN } })
  expect([answer.statusCode, answer.json().return]).toEqual([400, '/ws serves websockets only.'])
})

const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='

test.each([
  ['another version', [KEY, 'Sec-WebSocket-Version: 12'], 'Missing or invalid Sec-WebSocket-Version header.'],
  ['no key', ['Sec-WebSocket-Version: 13'], 'Missing or invalid Sec-WebSocket-Key header.'],
])('a handshake with %s is refused with a sentence', async (_, headers, sentence) => {
  await open()
  const asking = await ApiConnection.get(port, `/ws/${TOKEN}`, [
    'Connection: Upgrade',
    'Upgrade: websocket',
    ...headers,
  ])
  const answer = await asking.ended()
  expect(answer).toMatch(/^HTTP\/1.1 400 /)
  expect(answer).toContain('\r\nSec-WebSocket-Version: 13\r\n')
  const [, body = ''] = answer.split('\r\n\r\n')
  expect(JSON.parse(body)).toEqual({ status: 400, return: sentence })
})

test('a websocket is closed with a reason when the server stops', async () => {
  await open()
  const { over } = await connect(`/ws/${TOKEN}`)
  api.stop()
  expect(await over).toEqual({ code: 1001, reason: 'The server is stopping.' })
})

test('a websocket whose client does not read is closed with 1013', SLOW, async () => {
  await open({ max_reader_backlog: 200_000 })
  const client = await ready(await connect(`/ws/${TOKEN}`))
  client.socket.pause()
  const text = 'x'.repeat(100_000)
  for (let n = 0; n < 150; n++) await api.events.fire(`big/${n}`, { text })
  await new Promise((resolve) => setTimeout(resolve, 300))
  client.socket.resume()
  expect([1013, 1006]).toContain((await client.over).code)
})

test('a request to upgrade to another protocol is answered as an ordinary request', async () => {
  await open()
  const asking = await ApiConnection.get(port, '/livez', ['Connection: Upgrade', 'Upgrade: h2c'])
  expect(await asking.has('live')).toMatch(/^HTTP\/1.1 200 OK/)
  const posting = await ApiConnection.open(
    port,
    'POST /hook HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}',
  )
  expect(await posting.ended()).toMatch(/^HTTP\/1.1 400 .*Leave out the header Upgrade/s)
})

test('a closed websocket no longer counts as an open request', async () => {
  await open({ metrics: true, stats_disable_auth: true })
  const requests = async () =>
    /^salt_api_requests_open (\d+)$/m.exec((await api.app.inject('/metrics')).body)?.[1]
  const client = await connect(`/ws/${TOKEN}`)
  expect(await requests()).toBe('2')
  client.socket.close()
  await until('only the one for the metrics', async () => (await requests()) === '1')
})
