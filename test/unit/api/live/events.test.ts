import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiConnection } from '../../../harness/api-connection.ts'
import { SLOW } from '../../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../../harness/test-api.ts'
import { until } from '../../../harness/until.ts'

const TOKEN = 'ab'.repeat(32)

let api: TestApi
let port: number
let owners: Record<string, { name: string; eauth?: string; expire: number }>

async function open(settings: Parameters<typeof openTestApi>[1] = {}) {
  api = await openTestApi({}, settings)
  api.answer = ({ cmd, token }) => (cmd === 'get_token' ? (owners[String(token)] ?? {}) : null)
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  port = (api.app.server.address() as { port: number }).port
}

beforeEach(() => {
  owners = { [TOKEN]: { name: 'fred', eauth: 'pam', expire: Date.now() / 1000 + 3600 } }
})
afterEach(() => api.close())

test('events come as Salt sends them: tag and data, after retry', async () => {
  await open()
  const reader = await ApiConnection.get(port, '/events', [`X-Auth-Token: ${TOKEN}`])
  await reader.has('retry: 400\n')
  await api.events.fire('salt/custom/1', { number: 3, text: 'a\nb' })
  const received = await reader.has('"number": 3')
  expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  expect(received).toMatch(/content-type: text\/event-stream;charset=utf-8\r\n/)
  const [, body] = received.split('\r\n\r\n')
  expect(body).toMatch(
    /^retry: 400\n\ntag: salt\/custom\/1\ndata: \{"tag": "salt\/custom\/1", "data": \{"number": 3, "text": "a\\nb", "_stamp": "[^"]*"\}\}\n\n$/,
  )
})

test.each([
  ['a header', '/events', [`X-Auth-Token: ${TOKEN}`]],
  ['the cookie', '/events', [`Cookie: a=b; session_id=${TOKEN}`]],
  ['token in the query', `/events?token=${TOKEN}`, []],
  ['salt_token in the query', `/events?salt_token=${TOKEN}`, []],
])('the token may be in %s, and EventSource may say what it accepts', async (_, path, headers) => {
  await open()
  const reader = await ApiConnection.get(port, path, [...headers, 'Accept: text/event-stream'])
  expect(await reader.has('retry: 400')).toContain('200 OK')
})

test.each(['', '?token=nohex', `?token=${'cd'.repeat(32)}`, `?token=${TOKEN}&token=${TOKEN}`])(
  'without a valid token no events are sent: %s',
  async (query) => {
    await open()
    const answer = await api.app.inject(`/events${query}`)
    expect([answer.statusCode, answer.headers['www-authenticate']]).toEqual([401, 'Session'])
  },
)

test('tag= picks by shell patterns', async () => {
  await open({ events: 'all' })
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}&tag=salt/job/*&tag=my/tag`)
  await reader.has('retry')
  for (const tag of ['other', 'salt/job/20260101000000000000/new', 'my/tag/not', 'my/tag'])
    await api.events.fire(tag, {})
  await reader.has('tag: my/tag\n')
  expect(reader.received.match(/^tag: .*/gm)).toEqual([
    'tag: salt/job/20260101000000000000/new',
    'tag: my/tag',
  ])
})

test('while there are no events, an empty comment keeps the stream from being taken for dead', async () => {
  await open()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
    await reader.has('retry: 400\n\n')
    expect(reader.received).not.toContain(':\n\n')
    vi.advanceTimersByTime(15_000)
    await reader.has('retry: 400\n\n:\n\n')
    vi.advanceTimersByTime(15_000)
    await reader.has('retry: 400\n\n:\n\n:\n\n')
    const intervals = vi.getTimerCount()
    reader.socket.destroy()
    await until('the end of the comments', () => vi.getTimerCount() < intervals)
  } finally {
    vi.useRealTimers()
  }
})

test('the stream ends when the token expires', SLOW, async () => {
  await open()
  api.answer = () => ({ name: 'fred', eauth: 'pam', expire: Date.now() / 1000 + 0.3 })
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  expect(await reader.ended()).toContain(': The token has expired or was revoked.\n\n')
})

test('the stream ends with a reason when the server stops', async () => {
  await open()
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await reader.has('retry')
  api.stop()
  expect(await reader.ended()).toContain(': The server is stopping.\n\n')
})

test('readers get events of their own jobs, and events that concern no job', async () => {
  await open()
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await reader.has('retry')
  const [mine, other, unknown] = ['20260101000000000001', '20260101000000000002', '20260101000000000003']
  await api.events.fire(`salt/job/${mine}/new`, { user: 'fred', owner: 'eauth:pam:fred' })
  await api.events.fire(`salt/job/${other}/new`, { user: 'fred', owner: 'eauth:ldap:fred' })
  for (const jid of [mine, other, unknown]) await api.events.fire(`salt/job/${jid}/ret/web1`, { return: jid })
  await api.events.fire('custom', { jid: other })
  await api.events.fire('salt/minion/web1/start', {})
  await reader.has('tag: salt/minion')
  expect(reader.received.match(/^tag: .*/gm)).toEqual([
    `tag: salt/job/${mine}/new`,
    `tag: salt/job/${mine}/ret/web1`,
    'tag: salt/minion/web1/start',
  ])
})

test('readers do not get results of wheel functions and runners of other users, or refused jobs of them', async () => {
  await open()
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await reader.has('retry')
  const [mine, other] = ['20260101000000000001', '20260101000000000002']
  for (const kind of ['run', 'wheel'])
    for (const [jid, owner] of [
      [`${mine}${kind}`, 'eauth:pam:fred'],
      [`${other}${kind}`, 'host:fred'],
    ]) {
      await api.events.fire(`salt/${kind}/${jid}/new`, { user: 'fred', owner, jid })
      await api.events.fire(`salt/${kind}/${jid}/ret`, { user: 'fred', jid, return: 'a shared secret' })
    }
  for (const owner of [undefined, 'host:fred', 'eauth:pam:fred'])
    await api.events.fire('salt/job/error', { user: 'fred', owner, arg: ['words'] })
  await api.events.fire('last', {})
  await reader.has('tag: last')
  expect(reader.received.match(/^tag: .*/gm)).toEqual([
    `tag: salt/run/${mine}run/new`,
    `tag: salt/run/${mine}run/ret`,
    `tag: salt/wheel/${mine}wheel/new`,
    `tag: salt/wheel/${mine}wheel/ret`,
    'tag: salt/job/error',
    'tag: last',
  ])
})

test('the end of a run whose function does not exist is sent to the user who started it', async () => {
  await open()
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await reader.has('retry')
  const [mine, other] = ['20260101000000000001', '20260101000000000002']
  for (const kind of ['run', 'wheel'])
    for (const [jid, owner] of [
      [`${mine}${kind}`, 'eauth:pam:fred'],
      [`${other}${kind}`, 'host:fred'],
    ])
      await api.events.fire(`salt/${kind}/${jid}/ret`, { jid, owner, success: false, retcode: 254 })
  await api.events.fire('last', {})
  await reader.has('tag: last')
  expect(reader.received.match(/^tag: .*/gm)).toEqual([
    `tag: salt/run/${mine}run/ret`,
    `tag: salt/wheel/${mine}wheel/ret`,
    'tag: last',
  ])
})

test.each([
  ['a hook', 'salt/netapi/hook/job/%/new'],
  ['a minion', 'my/job/%/new'],
  ['a syndic', 'syndic/web1/salt/job/%/new'],
  ['a second beginning', 'salt/job/%/new'],
  ['a return of a minion', 'salt/job/%/ret/web1'],
])('a user cannot get the job of another user by %s', async (_, tag) => {
  await open()
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await reader.has('retry')
  const jid = '20260101000000000002'
  if (tag.startsWith('salt/job')) await api.events.fire(`salt/job/${jid}/new`, { owner: 'host:root' })
  await api.events.fire(tag.replace('%', jid), { owner: 'eauth:pam:fred' })
  await api.events.fire(`salt/job/${jid}/ret/web1`, { return: 'a secret' })
  await api.events.fire('last', {})
  expect(await reader.has('tag: last')).not.toContain('a secret')
})

test('with events: all, readers get the jobs of all users', async () => {
  await open({ events: 'all' })
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await reader.has('retry')
  await api.events.fire('salt/wheel/20260101000000000002/ret', { user: 'root' })
  await reader.has('tag: salt/wheel/20260101000000000002/ret')
})

test('a reader that does not read is dropped, without effect on other readers', SLOW, async () => {
  await open({ max_reader_backlog: 1_000_000 })
  const frozen = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await frozen.has('retry')
  frozen.socket.pause()
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await reader.has('retry')
  const text = 'x'.repeat(100_000)
  for (let n = 0; n < 150; n++) {
    await api.events.fire(`big/${n}`, { text })
    await reader.has(`tag: big/${n}\n`)
    reader.received = ''
  }
  await until('the end of the frozen one', () => connections().then((count) => count === 1))
  expect((await api.app.inject('/livez')).statusCode).toBe(200)
})

const connections = (): Promise<number> =>
  new Promise((resolve) => api.app.server.getConnections((_, count) => resolve(count)))

test('no more readers than max_readers are served', async () => {
  await open({ max_readers: 1 })
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await reader.has('retry')
  const answer = await api.app.inject(`/events?token=${TOKEN}`)
  expect([answer.statusCode, answer.json().return]).toEqual([
    503,
    '1 readers of events are connected, the maximum (max_readers).',
  ])
})

test('HEAD does not begin a stream', async () => {
  await open()
  const answer = await api.app.inject({ method: 'HEAD', url: `/events?token=${TOKEN}` })
  expect(answer.statusCode).toBe(405)
})

test('a client that disconnects before its token is checked does not count as a reader', async () => {
  await open({ max_readers: 1 })
  const answer = api.answer
  let answerNow = () => {}
  const answered = new Promise<void>((resolve) => {
    answerNow = resolve
  })
  api.answer = (load) => answered.then(() => answer(load))
  const early = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await until('the master to be asked', () => api.asked.length > 0)
  early.socket.destroy()
  await until('the early one to be gone', () => connections().then((count) => count === 0))
  answerNow()
  const reader = await ApiConnection.get(port, `/events?token=${TOKEN}`)
  await reader.has('HTTP/1.1 200 OK')
})
