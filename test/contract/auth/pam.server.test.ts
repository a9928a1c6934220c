import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Account, anAccount, changeAccount } from '../../harness/account.ts'
import { needs, ROOT } from '../../harness/needs.ts'
import { treeOf } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { authContract, openBackend, PASSWORD } from '../auth.ts'

const rightOf = ({ user }: Account) => ({ username: user, password: PASSWORD })
const knownAs = ({ user, group }: Account) => ({ name: user, groups: [user, group] })

let hanging: string

await authContract({
  name: 'pam',
  needs: ROOT,
  async prepare() {
    const account = await anAccount(PASSWORD)
    hanging = account.hanging
    const { quick, drop } = account
    return { opts: { 'auth.pam.service': quick }, right: rightOf(account), known: knownAs(account), drop }
  },
  wrongSetups: () => ({
    'the service is not there': {
      setup: { opts: { 'auth.pam.service': 'no-such-service' } },
      says: 'external_auth.pam.^service is no-such-service, but /etc/pam.d has no such file.',
    },
    'the service is a path': {
      setup: { settings: { service: '../passwd' } },
      says: 'must be the name of a file in /etc/pam.d',
    },
  }),
  async unusable() {
    return {
      'a module of PAM hangs': {
        setup: { settings: { service: hanging, timeout: 1 } },
        says: /^PAM: no answer within 1 seconds$/,
      },
    }
  },
})

const tree = () => treeOf(process.pid)
const hangs = () => tree().some(({ command }) => command.includes('sleep 20'))
const helpers = () => tree().filter(({ command }) => command.startsWith('salt auth pam'))

describe('pam', needs(ROOT), () => {
  const { ask, close } = openBackend('pam')
  type Work = (account: Account) => unknown
  /** With an account that is right but for what `change` does to it. */
  async function withAccount(change: Work, work: Work): Promise<void> {
    const account = await anAccount(PASSWORD)
    try {
      await change(account)
      await work(account)
    } finally {
      await close()
      await account.drop()
    }
  }
  const refusedBy = (what: string) => ({ refused: expect.stringContaining(what) })
  const refusedAt = (step: string) => (account: Account) =>
    expect(ask(rightOf(account), {})).resolves.toEqual(refusedBy(`${step} of the service login: `))
  const unchanged = () => {}

  test('CVE-2022-22967: refuses a locked account', () =>
    withAccount(({ user }) => changeAccount('usermod', '-L', user), refusedAt('pam_authenticate')))

  test.each([
    ['has expired', ['-E', '0']],
    ['has a password that has to be changed', ['-d', '0']],
  ])('CVE-2022-22967: refuses an account that %s, though the password is right', (_, flags) =>
    withAccount(({ user }) => changeAccount('chage', ...flags, user), refusedAt('pam_acct_mgmt')),
  )

  test('refuses an account whose shell is nologin, unless any_shell is set', () =>
    withAccount(
      ({ user }) => changeAccount('usermod', '-s', '/usr/sbin/nologin', user),
      async (account) => {
        expect(await ask(rightOf(account), {})).toEqual(refusedBy('its shell is /usr/sbin/nologin'))
        expect(await ask(rightOf(account), { settings: { any_shell: true } })).toEqual(knownAs(account))
      },
    ))

  test('CVE-2016-3176: uses the PAM service of the configuration of the master, whatever a caller names', () =>
    withAccount(
      ({ user }) => changeAccount('chage', '-E', '0', user),
      async (account) => {
        const { lax } = account
        const wishes = { service: lax, 'auth.pam.service': lax, '^service': lax }
        expect(await ask(rightOf(account), { opts: { 'auth.pam.service': lax } })).toEqual(knownAs(account))
        expect(await ask({ ...rightOf(account), ...wishes }, {})).toEqual(
          refusedBy('pam_acct_mgmt of the service login'),
        )
      },
    ))

  test('gives a password to its helper neither by argument nor by environment variable', () =>
    withAccount(unchanged, async (account) => {
      const asked = ask(rightOf(account), { settings: { service: account.hanging, timeout: 15 } })
      asked.catch(() => undefined)
      await until('PAM to hang', hangs)
      expect(helpers().length).toBe(1)
      for (const { pid } of tree().filter(({ pid }) => existsSync(`/proc/${pid}/environ`)))
        for (const file of ['environ', 'cmdline'])
          expect(readFileSync(`/proc/${pid}/${file}`, 'utf8')).not.toContain(PASSWORD)
      await close()
      await expect(asked).rejects.toThrow('PAM: the helper process ended (SIGKILL)')
    }))

  test('replaces a helper process that died, and starts two at most', () =>
    withAccount(unchanged, async (account) => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => ask(rightOf(account), {})))
      expect(answers).toEqual(answers.map(() => knownAs(account)))
      expect(helpers().length).toBe(2)
      const pids = helpers().map(({ pid }) => pid)
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      await until('them to be gone', () => !pids.some((pid) => existsSync(`/proc/${pid}`)))
      expect(await ask(rightOf(account), {})).toEqual(knownAs(account))
    }))

  test('stops waiting for PAM when the caller has left', () =>
    withAccount(unchanged, async (account) => {
      const leaving = new AbortController()
      const setup = { settings: { service: account.hanging, timeout: 30 } }
      const asked = ask(rightOf(account), setup, leaving.signal)
      asked.catch(() => undefined)
      await until('PAM to hang', hangs)
      leaving.abort()
      await expect(asked).rejects.toThrow('the caller no longer waits')
    }))
})
