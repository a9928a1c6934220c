import { expect, test } from 'vitest'
import { digestOf } from '../../../../core/auth/index.ts'
import { Attempts } from '../../../../core/auth/login/attempts.ts'
import { LoginLimit } from '../../../../core/auth/login/limit.ts'
import { SLOW } from '../../../harness/slow.ts'

function open(limit = 20) {
  let time = 0
  const guard = new LoginLimit({ limit, lockMs: 300_000, now: () => time })
  return {
    guard,
    pass: (ms: number) => {
      time += ms
    },
    /** Whether it was looked at. */
    async attempt(username: string, password: string, place?: string): Promise<boolean> {
      const begun = await guard.begin({ username, digest: digestOf(`${username} ${password}`) }, place)
      if ('locked' in begun) return false
      begun.end(password === 'right' ? 'passed' : 'failed')
      return true
    },
  }
}

const many = (count: number) => Array.from({ length: count }, (_, n) => n)
const looked = async (attempts: Promise<boolean>[]) => (await Promise.all(attempts)).filter(Boolean).length

test('of 150 guesses at once 20 are checked, and none more before login_lockout is over', async () => {
  const { attempt, pass } = open()
  expect(await looked(many(150).map((n) => attempt('fred', `guess ${n}`)))).toBe(20)
  expect(await attempt('fred', 'right')).toBe(false)
  pass(300_001)
  expect(await attempt('fred', 'right')).toBe(true)
})

test('different spellings of a name count as the same user', async () => {
  const { attempt } = open()
  const names = ['fred', 'Fred', 'FRED', ' fred', 'fred ', 'ｆｒｅｄ']
  expect(await looked(many(60).map((n) => attempt(names[n % 6] as string, `guess ${n}`)))).toBe(20)
})

test('guesses at one user do not lock out another', async () => {
  const { attempt } = open()
  await looked(many(150).map((n) => attempt('fred', `guess ${n}`)))
  expect(await attempt('anna', 'right')).toBe(true)
})

test('a user can sign in from an address of an earlier log-in while guesses come from others', async () => {
  const { attempt } = open()
  await attempt('fred', 'right', '192.0.2.1')
  await looked(many(150).map((n) => attempt('fred', `guess ${n}`)))
  expect(await attempt('fred', 'right')).toBe(false)
  expect(await attempt('fred', 'right', '192.0.2.2')).toBe(false)
  expect(await attempt('fred', 'right', '192.0.2.1')).toBe(true)
})

test('a user who has logged in from an address before can do so again although others guess there', async () => {
  const { attempt } = open()
  await attempt('fred', 'right', '192.0.2.1')
  expect(await looked(many(150).map((n) => attempt(`user${n}`, 'guess', '192.0.2.1')))).toBe(20)
  expect(await attempt('anna', 'right', '192.0.2.1')).toBe(false)
  expect(await attempt('fred', 'right', '192.0.2.1')).toBe(true)
})

test('20 guesses for a user are checked at an address where the user has logged in before, and lock out no other user', async () => {
  const { attempt, pass } = open()
  await attempt('fred', 'right', '192.0.2.1')
  expect(await looked(many(150).map((n) => attempt('fred', `guess ${n}`, '192.0.2.1')))).toBe(20)
  expect(await attempt('fred', 'right', '192.0.2.1')).toBe(false)
  expect(await attempt('anna', 'right', '192.0.2.1')).toBe(true)
  pass(300_001)
  expect(await attempt('fred', 'right', '192.0.2.1')).toBe(true)
})

test('while guesses are refused the right password is, too, even if it was right before', async () => {
  const { attempt } = open()
  expect(await attempt('fred', 'right')).toBe(true)
  await looked(many(20).map((n) => attempt('fred', `guess ${n}`)))
  expect(await attempt('fred', 'right')).toBe(false)
})

test('the same wrong password sent repeatedly does not lock out the right one', async () => {
  const { attempt } = open()
  for (let n = 0; n < 100; n++) await attempt('fred', 'of yesterday')
  expect(await attempt('fred', 'right')).toBe(true)
})

test('more than 20 right passwords at once wait for each other and are all accepted', async () => {
  const { attempt } = open()
  expect(await looked(many(100).map(() => attempt('fred', 'right')))).toBe(100)
})

test('a locked-out user stays so, however many other names are guessed meanwhile', SLOW, async () => {
  const { attempt, pass } = open()
  await looked(many(20).map((n) => attempt('fred', `guess ${n}`)))
  for (const n of many(11_000)) await attempt(`invented ${n}`, 'guess')
  expect(await attempt('fred', 'right')).toBe(false)
  pass(300_001)
  expect(await attempt('fred', 'right')).toBe(true)
})

test('the failures of a user are kept although many other names are looked up', async () => {
  const attempts = new Attempts({ limit: 3, lockMs: 300_000, now: () => 0 })
  const fail = async () => (await attempts.begin('fred', 1, () => false))?.('failed')
  await fail()
  await fail()
  for (const n of many(11_000)) attempts.lockedFor(`invented ${n}`)
  expect(await fail()).toBe(true)
})
