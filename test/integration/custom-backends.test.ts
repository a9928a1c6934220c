/** Backends of `external_auth` that are not of the package: a failure of their process affects no other. */
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { BackendChild } from '../../core/auth/backends/backend-child.ts'
import { openBackends } from '../../core/auth/backends/backends.ts'
import type { MasterConfig } from '../../core/config/index.ts'
import { fakeLog } from '../../core/testing/recording-log.ts'
import { isAlive } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

const auth_dirs = [fileURLToPath(new URL('../fixtures/auth', import.meta.url))]
const configOf = (external_auth: object) => ({ external_auth, auth_dirs }) as unknown as MasterConfig
const config = configOf({ troubled: { fred: ['.*'] } })

const opened: { close(): Promise<void> }[] = []
const closing = <T extends { close(): Promise<void> }>(what: T): T => {
  opened.push(what)
  return what
}
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())))

const { log, lines } = fakeLog()
const said = (pattern: RegExp) => lines.filter(({ message }) => pattern.test(message))
const as = (username: string) => ({ username, password: 'x' })

describe('a backend of its own', () => {
  test('runs in another process, with its settings, credentials and log', async () => {
    const backends = closing(openBackends(configOf({ troubled: { '^wrong': 'it is wrong' } }), log))
    expect(await backends.check()).toEqual(['external_auth.troubled: it is wrong'])
    expect(await backends.credentialsOf('troubled')).toEqual(['username', 'password', 'otp'])
    const answer = await backends.authenticate('troubled', { ...as('fred'), otp: '123', other: 1 })
    expect(answer).toEqual({
      known: { name: 'fred', groups: [expect.stringMatching(/^process \d+$/), '123'] },
    })
    expect(answer).not.toMatchObject({ known: { groups: [`process ${process.pid}`, '123'] } })
    expect(said(/^asked about fred$/)).toHaveLength(1)
  })

  test.each([
    ['exit', /^its process ended with exit code 3$/],
    ['throw', /^it threw an error outside a log-in: Error: nobody catches this$/],
    ['loop', /^its process did not respond for 0.5 s, as in an endless loop$/],
  ])(
    'that fails in this way has the reason in its answer and in the log, and works again: %s',
    async (name, why) => {
      const backend = closing(new BackendChild('troubled', { config, log, silenceMs: 500 }))
      const before = lines.length
      await expect(backend.authenticate(as(name))).rejects.toThrow(why)
      const reported = lines.slice(before).filter(({ level }) => level === 'error')
      expect(reported.map(({ message }) => message)).toEqual([
        expect.stringMatching(
          /^The backend troubled of external_auth is started again for the next log-in: it/,
        ),
      ])
      expect(await backend.authenticate(as('fred'))).toMatchObject({ known: { name: 'fred' } })
    },
  )

  test('that leaves a promise rejected is named in the log and keeps answering', async () => {
    const backend = closing(new BackendChild('troubled', { config, log }))
    expect(await backend.authenticate(as('reject'))).toMatchObject({ known: { name: 'reject' } })
    await until(
      'its line',
      () =>
        said(/^The backend troubled of external_auth has left a promise rejected: Error: nobody/).length > 0,
    )
    expect(await backend.authenticate(as('fred'))).toMatchObject({ known: { name: 'fred' } })
  })

  test('has its process ended when no user logs in, and started for the next log-in', async () => {
    const backend = closing(new BackendChild('troubled', { config, log, idleMs: 1 }))
    const pidOf = async () => {
      const answer = await backend.authenticate(as('fred'))
      return 'known' in answer ? Number(answer.known.groups?.[0]?.split(' ')[1]) : 0
    }
    const first = await pidOf()
    await until('its end', () => !isAlive(first))
    expect(await pidOf()).not.toBe(first)
  })

  test('that cannot be loaded is reported by the check', async () => {
    const backends = closing(openBackends(configOf({ lacking: {} }), log))
    expect(await backends.check()).toEqual([expect.stringMatching(/^external_auth.lacking cannot be used: /)])
  })
})
