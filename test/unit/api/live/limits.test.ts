/**
 * Requests that a server must not read in full, and files it must not disclose: CVE-2018-15750, and the findings in tornado,
 * which serves Salt's API (CVE-2025-47287, CVE-2026-31958, CVE-2026-35536, CVE-2026-49853, CVE-2026-49855, CVE-2026-91990).
 */
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { ApiConnection } from '../../../harness/api-connection.ts'
import { SLOW } from '../../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../../harness/test-api.ts'

let api: TestApi
let port: number

async function open(settings: Parameters<typeof openTestApi>[1] = {}) {
  api = await openTestApi({}, { webhook_disable_auth: true, ...settings })
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  port = (api.app.server.address() as { port: number }).port
}
afterEach(() => api.close())

async function statusOf(request: string): Promise<number> {
  const connection = await ApiConnection.open(port, request)
  const answer = await connection.has(/^HTTP\/1.1 \d+/)
  connection.socket.destroy()
  return Number(/ (\d+)/.exec(answer)?.[1])
}

const post = (headers: string, body = '') => `POST /hook HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`

test.each([
  [
    'both Content-Length and Transfer-Encoding',
    post('Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
    400,
  ],
  ['Content-Length: +5', post('Content-Length: +5', 'abcde'), 400],
  ['two lengths', post('Content-Length: 5\r\nContent-Length: 6', 'abcde'), 400],
  ['a length that is no number', post('Content-Length: 5x', 'abcde'), 400],
  ['chunked, but not at last', post('Transfer-Encoding: chunked, identity', '0\r\n\r\n'), 400],
  ['a chunk of a size that is no number', post('Transfer-Encoding: chunked', 'zz\r\n'), 400],
  ['a header with a blank in its name', post('Content Length: 5', 'abcde'), 400],
  ['a line feed instead of the end of a line', 'GET / HTTP/1.1\nHost: x\n\n', 400],
  ['no HTTP at all', '\x16\x03\x01\x02\0\x01', 400],
  ['HTTP/2 without asking', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
])('refused: %s', async (_, request, status) => {
  await open()
  expect(await statusOf(request)).toBe(status)
})

test('10 MB of headers are not read to their end', async () => {
  await open()
  const connection = await ApiConnection.open(port, `GET / HTTP/1.1\r\nX: ${'x'.repeat(10_000_000)}`)
  expect(await connection.has('request are larger')).toMatch(/^HTTP\/1.1 431 /)
  connection.socket.destroy()
})

test('CVE-2025-47287: 100,000 parts are refused unread', async () => {
  await open()
  const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
  const headers = `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: ${part.length * 100_000}`
  expect(await statusOf(post(headers, part.repeat(100)))).toBe(415)
})

test('a compressed body is not decompressed', async () => {
  await open()
  const bomb = gzipSync(Buffer.alloc(10_000_000))
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
  const answer = await api.app.inject({ method: 'POST', url: '/hook', payload: bomb, headers })
  expect([answer.statusCode, answer.json().return]).toEqual([
    415,
    'Compressed requests are not supported. Send the request without Content-Encoding.',
  ])
})

test('a body larger than max_request_body_size is 413, with and without Content-Length', async () => {
  await open({ max_request_body_size: 1000 })
  const body = 'x'.repeat(2000)
  expect(await statusOf(post('Content-Length: 2000', body))).toBe(413)
  expect(await statusOf(post('Transfer-Encoding: chunked', `7d0\r\n${body}\r\n0\r\n\r\n`))).toBe(413)
})

test('more requests than requests_per_minute are answered with 429, and the time to wait', async () => {
  await open({ requests_per_minute: 3 })
  const answers = []
  for (let n = 0; n < 4; n++) answers.push(await api.app.inject('/'))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429])
  const { headers, json } = answers[3]!
  expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  expect(json().return).toContain('More than 3 requests per minute (requests_per_minute).')
  expect((await api.app.inject('/livez')).statusCode).toBe(200)
  expect((await api.app.inject({ url: '/', remoteAddress: '192.0.2.7' })).statusCode).toBe(200)
})

test('waits beyond max_waits_per_token of one client, or max_waits of all, are refused at once', async () => {
  await open({ max_waits: 3, max_waits_per_token: 2 })
  api.answer = () => new Promise(() => {})
  const [one, other] = ['ab'.repeat(32), 'cd'.repeat(32)]
  const waits = async (token: string) => ApiConnection.get(port, '/stats', [`X-Auth-Token: ${token}`])
  const ask = (token: string) => api.app.inject({ url: '/stats', headers: { 'x-auth-token': token } })
  const held = [await waits(one), await waits(one)]
  await untilAsked(2)
  const own = await ask(one)
  expect([own.statusCode, own.json().return]).toEqual([
    429,
    '2 requests of yours are being answered, the maximum (max_waits_per_token). Try again later.',
  ])
  held.push(await waits(other))
  await untilAsked(3)
  expect((await ask(other)).statusCode).toBe(503)
  expect((await api.app.inject('/livez')).statusCode).toBe(200)
  for (const { socket } of held) socket.destroy()
})

async function untilAsked(count: number): Promise<void> {
  while (api.asked.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('a client that does not finish its request gets 408, and its connection is closed', SLOW, async () => {
  await open({ request_timeout: 1 })
  const slow = await ApiConnection.open(port, 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow:')
  expect(await slow.ended()).toMatch(/^HTTP\/1.1 408 /)
})

test.each([
  '/static/..%2f..%2fetc/passwd',
  '/static/%252e%252e/etc/passwd',
  '/static//etc/passwd',
  '/app',
  '/nothing',
])('CVE-2018-15750: no file is served, and the answer does not reveal whether it exists: %s', async (url) => {
  await open()
  const answer = await api.app.inject(url)
  expect(answer.statusCode).toBe(404)
  expect(answer.json().return.replace(/at .*/, 'at …')).toBe('There is nothing at …')
})

test('answers are not cached, run or framed; no header names the server', async () => {
  await open()
  const { headers } = await api.app.inject({ url: '/', headers: { accept: 'text/html' } })
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  expect(Object.keys(headers)).not.toContain('server')
  expect(Object.keys(headers)).not.toContain('x-powered-by')
})
