import { afterEach, beforeEach, expect, test } from 'vitest'
import { TokenWatch } from '../../../../core/api/live/tokens.ts'
import { SaltError } from '../../../../core/base/errors.ts'
import type { MasterLink } from '../../../../core/client/local/master-link.ts'
import { ApiConnection } from '../../../harness/api-connection.ts'
import { openTestApi } from '../../../harness/test-api.ts'
import { until } from '../../../harness/until.ts'

const TOKEN = 'ab'.repeat(32)

let tokens: TokenWatch
let answer: () => unknown
let asked: number

const inAnHour = () => Date.now() / 1000 + 3600

beforeEach(() => {
  asked = 0
  answer = () => ({ name: 'fred', expire: inAnHour() })
  const ask = async () => {
    asked++
    return answer()
  }
  tokens = new TokenWatch({ ask } as unknown as MasterLink, 20)
})
afterEach(() => tokens.close())

test('a reader whose token was revoked elsewhere is disconnected with that reason', async () => {
  const owner = await tokens.require(TOKEN)
  let ended = 0
  for (let n = 0; n < 3; n++) tokens.watch(TOKEN, owner, () => ended++)
  answer = () => ({})
  await until('the end', () => ended === 3)
})

test('no token is revoked while the master does not answer', async () => {
  const owner = await tokens.require(TOKEN)
  let ended = false
  tokens.watch(TOKEN, owner, () => {
    ended = true
  })
  answer = () => {
    throw new SaltError('MASTER_UNREACHABLE', 'away')
  }
  const before = asked
  await until('some questions', () => asked > before + 3)
  expect(ended).toBe(false)
})

test('a token is neither refused nor revoked while the master cannot look it up', async () => {
  const owner = await tokens.require(TOKEN)
  let ended = false
  tokens.watch(TOKEN, owner, () => {
    ended = true
  })
  const message = 'Tokens cannot be looked up at the moment. Try again later.'
  answer = () => ({ error: { name: 'SaltMasterError', message } })
  await expect(tokens.require(TOKEN)).rejects.toMatchObject({ code: 'MASTER_UNREACHABLE', message })
  const before = asked
  await until('some questions', () => asked > before + 3)
  expect(ended).toBe(false)
})

test('while the master cannot look tokens up, readers of events are answered 503 with its sentence', async () => {
  const api = await openTestApi()
  const message = 'Tokens cannot be looked up at the moment. Try again later.'
  api.answer = () => ({ error: { name: 'SaltMasterError', message } })
  const answered = await api.app.inject(`/events?token=${TOKEN}`)
  expect([answered.statusCode, answered.json()]).toEqual([503, { status: 503, return: message }])
  await api.close()
})

test.each(['', 'x', '../../etc/passwd', 'ab'.repeat(200), 'abcdefg hij'])(
  '%j is not sent to the master',
  async (token) => {
    await expect(tokens.require(token)).rejects.toThrow(/^There is no token, or it is unknown/)
    expect(asked).toBe(0)
  },
)

test.each([
  null,
  '',
  [],
  {},
  { name: 5 },
  { name: 'fred' },
  { name: 'fred', expire: 'soon' },
  { name: 'fred', expire: 1 },
])('an invalid answer of the master is not taken for an owner: %j', async (said) => {
  answer = () => said
  expect(await tokens.ownerOf(TOKEN)).toBeUndefined()
})

test('/logout ends the streams of the token', async () => {
  const api = await openTestApi()
  api.answer = ({ cmd }) => (cmd === '_revoke_token' ? true : { name: 'fred', expire: inAnHour() })
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  const reader = await ApiConnection.get(
    (api.app.server.address() as { port: number }).port,
    `/events?token=${TOKEN}`,
  )
  await reader.has('retry')
  const left = await api.app.inject({ method: 'POST', url: '/logout', headers: { 'x-auth-token': TOKEN } })
  expect(left.statusCode).toBe(200)
  expect(await reader.ended()).toContain(': The token has expired or was revoked.\n\n')
  await api.close()
})

test('a master that has not answered yet is not asked again', async () => {
  const owner = await tokens.require(TOKEN)
  tokens.watch(TOKEN, owner, () => {})
  answer = () => new Promise(() => {})
  const before = asked
  await until('a question', () => asked > before)
  const rounds = new TokenWatch({ ask: async () => null } as unknown as MasterLink, 20)
  let ended = 0
  for (let n = 0; n < 5; n++) {
    rounds.watch(TOKEN, owner, () => ended++)
    await until('another round', () => ended > n)
  }
  rounds.close()
  expect(asked).toBe(before + 1)
})
