/** The credentials that backends get, and the parts of their answers that are used. */
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Backends } from '../../../../core/auth/backends/backends.ts'
import { openBackend } from '../../../../core/auth/backends/open-backend.ts'
import { deferred } from '../../../../core/base/deferred.ts'
import type { MasterConfig } from '../../../../core/config/index.ts'
import { openLoader } from '../../../../core/loader/index.ts'
import { quietLog as log } from '../../../harness/log.ts'

const auth_dirs = [fileURLToPath(new URL('../../../fixtures/auth', import.meta.url))]
const fred = { username: 'fred', password: 'x' }

type Say = (credentials: Record<string, unknown>, signal: AbortSignal) => unknown
const backends = (say: Say, deadlineMs?: number) => {
  const external_auth = { saying: { '^say': say, fred: ['.*'] } }
  const config = { external_auth, auth_dirs } as unknown as MasterConfig
  const loader = openLoader('auth', { config, log })
  const host = { config, loader, log, ...(deadlineMs !== undefined && { deadlineMs }) }
  return new Backends(config, async (name) => openBackend(name, host))
}

describe('a backend', () => {
  const given = async (credentials: Record<string, unknown>) => {
    let seen: unknown
    await backends((all) => {
      seen = all
      return { name: 'fred' }
    }).authenticate('saying', credentials)
    return seen
  }

  test('gets the credentials it declares and no others', async () => {
    expect(await given({ ...fred, otp: '1', service: 'other', eauth: 'saying' })).toEqual({
      ...fred,
      otp: '1',
    })
  })

  test('gets no text longer than 64 KiB', async () => {
    const long = 'x'.repeat(65_536)
    expect(await given({ ...fred, otp: long })).toEqual({ ...fred, otp: long })
    expect(await given({ ...fred, otp: `${long}x` })).toEqual(fred)
    expect(await given({ username: 'fred', password: `${long}x` })).toEqual({ username: 'fred' })
  })

  test('gets no members that every JavaScript object has', async () => {
    expect(await given(fred)).toEqual(fred)
  })

  test.each([[['fred']], [5], [{ $ne: 1 }], [null]])('is not called for %j', async (odd) => {
    for (const credentials of [
      { ...fred, username: odd },
      { ...fred, password: odd },
    ]) {
      expect(await given(credentials)).toBeUndefined()
      expect(await backends(() => ({ name: 'fred' })).authenticate('saying', credentials)).toEqual({
        refused: 'the name or the password is not a text',
      })
    }
  })

  test('that external_auth does not name is not called, even if it exists', async () => {
    for (const name of ['auto', 'listed', '__proto__', 'constructor'])
      expect(await backends(() => ({ name: 'fred' })).authenticate(name, fred)).toEqual({
        refused: `external_auth does not name the backend '${name}'`,
      })
  })

  test('that does not answer is given up', async () => {
    const silent = backends(
      (_, signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
      1,
    )
    expect(await silent.authenticate('saying', fred)).toEqual({
      unknowable: 'the backend saying failed: it did not answer within 0.001 s',
    })
  })

  test('checks 32 log-ins at once, and others when these are done', async () => {
    const done = deferred()
    const slow = backends(() => done.promise.then(() => ({ name: 'fred' })))
    const first = Array.from({ length: 32 }, () => slow.authenticate('saying', fred))
    expect(await slow.authenticate('saying', fred)).toEqual({
      unknowable: '32 log-ins are being checked at the same time',
    })
    done.resolve()
    await Promise.all(first)
    expect(await slow.authenticate('saying', fred)).toMatchObject({ known: { name: 'fred' } })
  })
})

describe('an answer', () => {
  const outcome = (answer: unknown) => backends(() => answer).authenticate('saying', fred)

  test.each<[unknown]>([
    [undefined],
    [true],
    ['fred'],
    [['fred']],
    [{}],
    [{ name: 5 }],
    [{ name: '' }],
    [{ name: 'x'.repeat(257) }],
    [{ name: 'fred', groups: 'ops' }],
    [{ name: 'fred', groups: [5] }],
    [{ name: 'fred', groups: { ops: true } }],
    [{ name: 'fred', permissions: '.*' }],
    [{ name: 'fred', permissions: { '*': ['.*'] } }],
    [{ refused: true }],
  ])('that is invalid authenticates no user: %j', async (answer) => {
    expect(await outcome(answer)).toEqual({ unknowable: 'the backend saying returned no valid answer' })
  })

  test('is the name of the user, with groups and permissions', async () => {
    expect(await outcome({ name: 'x'.repeat(256) })).toEqual({ known: { name: 'x'.repeat(256), groups: [] } })
    const known = { name: 'fred', groups: ['ops'], permissions: ['test.*'] }
    expect(await outcome({ ...known, more: 1 })).toEqual({ known })
  })

  test('that refuses is the reason, whatever else it has', async () => {
    expect(await outcome({ refused: 'locked', name: 'root' })).toEqual({ refused: 'locked' })
  })
})
