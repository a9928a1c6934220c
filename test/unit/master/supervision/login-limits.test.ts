import { expect, test } from 'vitest'
import { LoginLimit } from '../../../../core/auth/login/limit.ts'
import { LoginLimitClient, LoginLimitServer } from '../../../../core/master/supervision/login-limits.ts'

/** Two workers of one supervisor. */
function open() {
  const limit = new LoginLimit({ limit: 20, lockMs: 300_000 })
  const worker = () => {
    const desk = new LoginLimitServer(limit, (answer) => logins.take(answer))
    const logins = new LoginLimitClient((message) => void desk.take(message))
    return { desk, logins }
  }
  return [worker(), worker()] as const
}

test('wrong passwords at two workers are counted together', async () => {
  const [one, other] = open()
  const attempts = Array.from({ length: 150 }, async (_, n) => {
    const { logins } = n % 2 ? one : other
    const begun = await logins.begin({ username: 'fred', digest: `guess ${n}` })
    if ('locked' in begun) return begun.locked.who
    begun.end('failed')
    return 'looked at'
  })
  const found = await Promise.all(attempts)
  expect(found.filter((each) => each === 'looked at')).toHaveLength(20)
  expect(found.filter((each) => each === 'for "fred"')).toHaveLength(130)
})

test('a password that a worker was checking when it ended counts as wrong', async () => {
  const [one, other] = open()
  for (let n = 0; n < 20; n++) await one.logins.begin({ username: 'fred', digest: `guess ${n}` })
  const waiting = other.logins.begin({ username: 'fred', digest: 'one more' })
  one.desk.close()
  expect(await waiting).toMatchObject({ locked: { who: 'for "fred"' } })
})
