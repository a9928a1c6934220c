/** Bodies that are small when sent, but take very long to parse or expand to a huge size. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SLOW } from '../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../harness/test-api.ts'

const FORM = 'application/x-www-form-urlencoded'
const YAML = 'application/x-yaml'
const TOKEN = 'ab'.repeat(32)
const credentials = { eauth: 'pam', username: 'fred', password: 'x' }

let api: TestApi
beforeEach(async () => {
  api = await openTestApi()
  api.answer = ({ cmd }) => (cmd === 'get_token' ? { name: 'fred', expire: Date.now() / 1000 + 60 } : {})
})
afterEach(() => api.close())

const send = (url: string, type: string, payload: string) =>
  api.app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': type, 'x-auth-token': TOKEN },
  })

test.each(['/login', '/hook'])('%s reads a form that has one name 60,000 times', SLOW, async (url) => {
  const events = api.events.subscribe('salt/netapi/')
  expect((await send(url, FORM, 'tags=x&'.repeat(60_000))).statusCode).toBe(url === '/hook' ? 200 : 401)
  if (url === '/login') expect(api.asked[0]).toMatchObject({ tags: Array(60_000).fill('x') })
  else
    for await (const { data } of events)
      return void expect(data.post).toEqual({ tags: Array(60_000).fill('x') })
})

test('/hook reads a form with 60,000 names', SLOW, async () => {
  const names = Array.from({ length: 60_000 }, (_, n) => `${n}=x`)
  expect((await send('/hook', FORM, names.join('&'))).json()).toEqual({ success: true })
})

const keys = Array.from({ length: 20_000 }, (_, n) => `key${n}: 1\n`).join('')
const merges = `a: &a {b: 1}\nc:\n${'  <<: *a\n'.repeat(20_000)}`

test.each(['/login', '/run', '/hook'])('%s does not read YAML of very many parts', SLOW, async (url) => {
  for (const text of [keys, merges]) {
    const answer = await send(url, YAML, text)
    expect([answer.statusCode, answer.json().return]).toEqual([
      400,
      'Invalid YAML document: it has more than 10000 tokens. Use JSON for that much data',
    ])
  }
})

test('YAML that is long, but not of many parts, is read', async () => {
  const script = '  echo line\n'.repeat(20_000)
  const text = `client: runner\nfun: test.arg\nscript: |\n${script}`
  const answer = await send('/', YAML, text)
  expect([answer.statusCode, api.asked.length]).toEqual([502, 1])
})

const laughs = 'bcdef'.split('').map((name, n) => `&${name} [${`*${'abcde'[n]},`.repeat(10)}]`)
const million = `[&a [${'1,'.repeat(10)}], ${laughs}]`

test('a word that repeats itself a million times is a text', async () => {
  const chunk = { client: 'runner', fun: 'test.arg', arg: [million], ...credentials }
  await api.app.inject({ method: 'POST', url: '/run', payload: chunk })
  expect(api.asked[0]).toMatchObject({ kwarg: { arg: [million] } })
})

test('a hook with a key that pollutes prototypes, or nested very deeply, is refused', async () => {
  for (const body of ['{"__proto__": {"a": 1}}', `${'['.repeat(60)}${']'.repeat(60)}`])
    expect((await send('/hook', 'application/json', body)).statusCode).toBe(400)
})
