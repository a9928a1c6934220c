import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { httpError } from '../../../../core/api/http-errors.ts'
import { deferred } from '../../../../core/base/deferred.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import { ApiConnection } from '../../../harness/api-connection.ts'
import { SLOW } from '../../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../../harness/test-api.ts'
import { until } from '../../../harness/until.ts'

const GOOD = 'ab'.repeat(32)

let api: TestApi
let asked: number

let log: ReturnType<typeof fakeLog>

/** A server whose `/stats` needs a token and whose `/door` takes a password, as `/login` does. */
async function open() {
  log = fakeLog()
  api = await openTestApi({}, { requests_per_minute: 0 }, log.log)
  const expire = Date.now() / 1000 + 3600
  asked = 0
  api.answer = ({ token }) => {
    asked++
    return token === GOOD ? { name: 'fred', expire } : {}
  }
  api.app.post('/door', async (request) => {
    asked++
    const all = [request.body].flat() as { password?: string }[]
    if (all.some(({ password }) => password !== 'right')) throw httpError(401, 'no')
    return {}
  })
}
beforeEach(open)
afterEach(() => api.close())

const byToken = (token: string, remoteAddress = '192.0.2.1') =>
  api.app.inject({ url: '/stats', headers: { 'x-auth-token': token }, remoteAddress })

const byPassword = (username: string, password: string, remoteAddress = '192.0.2.1') =>
  api.app.inject({
    method: 'POST',
    url: '/door',
    payload: { username, password, eauth: 'pam' },
    remoteAddress,
  })

const guess = (n: number) => n.toString(16).padStart(64, '0')

const statuses = async (answers: Promise<{ statusCode: number }>[]) =>
  (await Promise.all(answers)).map(({ statusCode }) => statusCode)

const many = (count: number) => Array.from({ length: count }, (_, n) => n)

test('of ten thousand guesses of tokens at once only 20 are checked', SLOW, async () => {
  const found = await statuses(many(10_000).map((n) => byToken(guess(n))))
  expect(asked).toBe(20)
  expect(found.filter((status) => status === 401)).toHaveLength(20)
  expect(found.filter((status) => status === 429)).toHaveLength(9980)
})

test('of ten thousand guesses of one password from one address only 20 are checked', SLOW, async () => {
  const found = await statuses(many(10_000).map((n) => byPassword('fred', `guess ${n}`)))
  expect([asked, found.filter((status) => status === 401).length]).toEqual([20, 20])
  const told = log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  expect(told.sort()).toEqual([
    'Too many wrong passwords or tokens for "fred": no more are checked for 300 s.',
    'Too many wrong passwords or tokens from 192.0.2.1: no more are checked for 300 s.',
  ])
})

test('of guesses of one password from 100 addresses only 20 are checked, and fred can sign in from his usual address', async () => {
  expect((await byPassword('fred', 'right', '198.51.100.1')).statusCode).toBe(200)
  asked = 0
  await statuses(many(100).map((n) => byPassword('fred', `guess ${n}`, `192.0.2.${n}`)))
  expect(asked).toBe(20)
  expect((await byPassword('fred', 'right', '192.0.2.200')).statusCode).toBe(429)
  expect((await byPassword('anna', 'right', '192.0.2.200')).statusCode).toBe(200)
  expect((await byPassword('fred', 'right', '198.51.100.1')).statusCode).toBe(200)
})

test('guesses at an address lock out only users who have not logged in from there before', async () => {
  expect((await byPassword('fred', 'right')).statusCode).toBe(200)
  await statuses(many(30).map((n) => byPassword('anna', `guess ${n}`)))
  expect((await byPassword('anna', 'right')).statusCode).toBe(429)
  expect((await byPassword('berta', 'right')).statusCode).toBe(429)
  expect((await byPassword('fred', 'right')).statusCode).toBe(200)
})

test(
  'ten thousand guesses of a password from where its user has signed in: 20 are looked at',
  SLOW,
  async () => {
    expect((await byPassword('fred', 'right')).statusCode).toBe(200)
    asked = 0
    const found = await statuses(many(10_000).map((n) => byPassword('fred', `guess ${n}`)))
    expect([asked, found.filter((status) => status === 401).length]).toEqual([20, 20])
    const told = log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
    expect(told).toEqual([
      'Too many wrong passwords or tokens for "fred" from 192.0.2.1: no more are checked for 300 s.',
    ])
  },
)

test('a locked-out client learns nothing from the right password', async () => {
  expect((await byPassword('fred', 'right')).statusCode).toBe(200)
  await statuses(many(30).map((n) => byPassword('fred', `guess ${n}`)))
  expect((await byPassword('fred', 'right')).statusCode).toBe(429)
})

test('the same wrong token is refused with 429 after 20 tries, and other users of that address can sign in', async () => {
  const found = []
  for (let n = 0; n < 30; n++) found.push((await byToken(guess(1))).statusCode)
  expect(found.slice(0, 20).every((status) => status === 401)).toBe(true)
  expect(found.at(-1)).toBe(429)
  expect((await byPassword('anna', 'right')).statusCode).toBe(200)
})

test('many waits with a token that is new to this server can be under way at once', SLOW, async () => {
  const over = deferred<object>()
  let begun = 0
  api.app.get('/long', () => {
    begun++
    return over.promise
  })
  const headers = { 'x-auth-token': GOOD }
  const found = statuses(many(500).map(() => api.app.inject({ url: '/long', headers })))
  await until('all of them to wait', () => begun === 500)
  over.resolve({})
  expect((await found).every((status) => status === 200)).toBe(true)
})

test('a signed-in user can send requests while other clients of the same address guess tokens', async () => {
  expect((await byToken(GOOD)).statusCode).toBe(200)
  await statuses(many(50).map((n) => byToken(guess(n))))
  expect((await byToken(GOOD)).statusCode).toBe(200)
  expect((await byToken(GOOD, '192.0.2.9')).statusCode).toBe(200)
})

test('many different passwords in one request count as that many guesses', async () => {
  const payload = many(100).map((n) => ({ username: `user${n}`, password: `p${n}`, eauth: 'pam' }))
  const answer = await api.app.inject({ method: 'POST', url: '/door', payload })
  expect([answer.statusCode, asked]).toEqual([429, 0])
})

test('an address is locked out as long as Retry-After says; further attempts do not prolong that', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    await statuses(many(20).map((n) => byToken(guess(n))))
    const answer = await byToken(guess(99))
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '300'])
    expect(answer.json().return).toBe('There were too many wrong passwords or tokens. Try again in 300 s.')
    vi.advanceTimersByTime(299_000)
    expect((await byToken(guess(100))).headers['retry-after']).toBe('1')
    vi.advanceTimersByTime(1000)
    expect((await byToken(guess(100))).statusCode).toBe(401)
  } finally {
    vi.useRealTimers()
  }
})

test('addresses of one IPv6 network count as one', async () => {
  await statuses(many(50).map((n) => byToken(guess(n), `2001:db8::${n.toString(16)}`)))
  expect(asked).toBe(20)
  expect((await byToken(guess(60), '2001:db8:1::1')).statusCode).toBe(401)
})

test('a token in a path or query is not logged', async () => {
  const secret = 'c4'.repeat(32)
  const urls = [`/events?token=${secret}`, `/ws/${secret}`, `/all_events/${secret}/`, `/none?token=${secret}`]
  for (const url of urls) expect((await api.app.inject(url)).statusCode).toBeGreaterThan(399)
  expect(log.lines.length).toBeGreaterThan(0)
  expect(JSON.stringify(log.lines)).not.toContain(secret)
})

test('a password beside a valid token is not recorded as right', async () => {
  api.app.post('/calls', async () => ({})) // as `POST /`, which takes the token
  for (const n of many(30)) {
    const payload = { username: 'fred', password: `guess ${n}`, eauth: 'pam' }
    const headers = { 'x-auth-token': GOOD }
    const answer = await api.app.inject({
      method: 'POST',
      url: '/calls',
      payload,
      headers,
      remoteAddress: '192.0.2.1',
    })
    expect(answer.statusCode).toBe(200)
    await byPassword('fred', `guess ${n}`)
  }
  expect(asked).toBe(20)
})

test('credentials that /login does not check are not remembered as right', async () => {
  const expire = Date.now() / 1000 + 3600
  api.answer = () => ({ token: GOOD, name: 'mallory', eauth: 'pam', expire })
  const payload = ['mallory', 'fred'].map((username) => ({ username, password: 'right', eauth: 'pam' }))
  const answer = await api.app.inject({ method: 'POST', url: '/login', payload, remoteAddress: '192.0.2.1' })
  expect(answer.statusCode).toBe(200)
  await statuses(many(30).map((n) => byPassword('fred', `guess ${n}`)))
  expect((await byPassword('anna', 'right')).statusCode).toBe(429)
})

test.each(['/login', '/token'])(
  '%s counts guesses of a password whatever token comes with them',
  SLOW,
  async (url) => {
    expect((await byToken(GOOD)).statusCode).toBe(200)
    asked = 0
    for (const n of many(30)) {
      const payload = {
        username: 'fred',
        password: `guess ${n}`,
        eauth: 'pam',
        token: n % 2 ? GOOD : guess(n),
      }
      await api.app.inject({ method: 'POST', url, payload, remoteAddress: `192.0.2.${n}` })
      await byToken(GOOD)
    }
    expect(asked - 30).toBe(20)
  },
)

test('of two cookies the one that is used is counted as the guess', async () => {
  expect((await byToken(GOOD)).statusCode).toBe(200)
  const cookie = (n: number) => `session_id=${GOOD}; session_id=${guess(n)}`
  const found = await statuses(
    many(30).map((n) => api.app.inject({ url: '/stats', headers: { cookie: cookie(n) } })),
  )
  expect(found.filter((status) => status === 429)).toHaveLength(10)
})

test('a new id token is not refused because of an earlier one', async () => {
  api.app.post('/oidc', async ({ body }) => {
    if ((body as { id_token: string }).id_token !== 'fresh') throw httpError(401, 'expired')
    return {}
  })
  const byIdToken = (id_token: string) =>
    api.app.inject({ method: 'POST', url: '/oidc', payload: { eauth: 'oidc', id_token } })
  expect(await statuses(many(30).map(() => byIdToken('old')))).toContain(429)
  expect((await byIdToken('fresh')).statusCode).toBe(200)
})

describe('clients that leave', () => {
  let port: number
  let answerNow: () => void

  beforeEach(async () => {
    const answered = new Promise<void>((resolve) => {
      answerNow = resolve
    })
    const answer = api.answer
    api.answer = async (load) => {
      const found = answer(load)
      await answered
      return found
    }
    await api.app.listen({ host: '127.0.0.1', port: 0 })
    port = (api.app.server.address() as { port: number }).port
  })
  afterEach(() => answerNow())

  const leave = async (clients: ApiConnection[]) => {
    for (const { socket } of clients) socket.destroy()
    await until('all of them to be gone', async () => (await connections()) === 0)
  }
  const connections = () =>
    new Promise<number>((resolve) => api.app.server.getConnections((_, count) => resolve(count)))

  test('while they wait for their turn do not lock the address out for ever', async () => {
    const clients = await Promise.all(
      many(60).map((n) => ApiConnection.get(port, '/stats', [`X-Auth-Token: ${guess(n)}`])),
    )
    await until('20 of them to be looked at', () => asked === 20)
    await leave(clients)
    answerNow()
    expect((await byToken(GOOD, '127.0.0.1')).statusCode).toBe(200)
  })

  test('before their password is checked have their guess counted', SLOW, async () => {
    const body = (n: number) => JSON.stringify({ username: 'fred', password: `guess ${n}`, eauth: 'pam' })
    for (const n of many(20)) {
      const text = body(n)
      const head = `POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${text.length}`
      const client = await ApiConnection.open(port, `${head}\r\n\r\n${text}`)
      await until('the master to be asked', () => asked === n + 1)
      await leave([client])
    }
    expect((await byPassword('fred', 'right', '192.0.2.200')).statusCode).toBe(429)
  })
})
