import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ApiConnection } from '../../../harness/api-connection.ts'
import { SLOW } from '../../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../../harness/test-api.ts'
import { until } from '../../../harness/until.ts'

const TOKEN = 'ab'.repeat(32)

let api: TestApi
let port: number

async function open(settings: Parameters<typeof openTestApi>[1] = {}) {
  api = await openTestApi({}, settings)
  const expire = Date.now() / 1000 + 3600
  api.answer = ({ cmd }) => (cmd === 'get_token' ? { name: 'fred', expire } : {})
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  port = (api.app.server.address() as { port: number }).port
}
afterEach(() => api.close())

const readyz = async () => {
  const answer = await api.app.inject('/readyz')
  return [answer.statusCode, answer.json()]
}

test(
  'the server is ready when the master answers, and reports the reason while it does not',
  SLOW,
  async () => {
    await open()
    expect(await readyz()).toEqual([200, { ready: true, reasons: [] }])
    expect((await api.app.inject('/livez')).json()).toEqual({ live: true })
    api.answer = () => {
      throw new Error('nobody at 127.0.0.1:4506 (configuration in /etc/salt)')
    }
    const reasons = ['The master does not answer. The log of this server says why.']
    await until('the master to be missed', async () => (await readyz())[0] === 503)
    expect(await readyz()).toEqual([503, { ready: false, reasons }])
    expect((await api.app.inject('/livez')).statusCode).toBe(200)
  },
)

test('the server is not ready while its request to the master is queued', SLOW, async () => {
  await open()
  api.answer = () => new Promise(() => {})
  const reasons = ['The master does not keep up with the requests of this server.']
  expect(await readyz()).toEqual([503, { ready: false, reasons }])
})

test('many requests for readiness cause one request to the master', async () => {
  await open()
  await Promise.all(Array.from({ length: 200 }, readyz))
  expect(api.asked.filter(({ cmd }) => cmd === 'ping')).toHaveLength(1)
})

test('a stopping server is not ready', async () => {
  await open()
  api.stop()
  expect(await readyz()).toEqual([503, { ready: false, reasons: ['The server is stopping.'] }])
})

test('it stops despite clients that do not read, do not finish a request, or wait', SLOW, async () => {
  await open({ stop_timeout: 1 })
  const frozen = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await frozen.has('retry')
  frozen.socket.pause()
  await ApiConnection.open(port, 'POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf')
  await ApiConnection.get(port, '/nothing')
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws/${TOKEN}`)
  await new Promise((done) => socket.once('open', done))
  socket.pause()
  api.stop()
  await api.app.close()
})

const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket']
const KEY = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']

test.each([
  ['asks for another protocol', '/', ['Connection: Upgrade', 'Upgrade: h2c']],
  ['is refused a websocket', '/ws/nohex', [...UPGRADE, ...KEY]],
  ['has a body with the upgrade request', '/', [...UPGRADE, 'Content-Length: 1']],
])('a client that %s, and never closes its connection, is disconnected', async (_, path, headers) => {
  await open()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  socket.write([`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n'))
  await once(socket.resume(), 'end')
  const connections = () =>
    new Promise<number>((resolve) => api.app.server.getConnections((_error, count) => resolve(count)))
  await until('the server to close its side', async () => (await connections()) === 0)
})

test('it stops in time while an upgrade request is in progress', SLOW, async () => {
  await open({ stop_timeout: 1 })
  api.answer = () => new Promise(() => {})
  const headers = [`X-Auth-Token: ${TOKEN}`, 'Connection: Upgrade', 'Upgrade: h2c']
  const waiting = await ApiConnection.get(port, '/stats', headers)
  await until('the master to be asked', () => api.asked.length > 0)
  api.stop()
  await api.app.close()
  await waiting.ended()
})
