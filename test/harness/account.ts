/** Accounts of this host, and services of its PAM, for a test that runs as root. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { until } from './until.ts'

export interface Account {
  readonly user: string
  /** Besides the one of its own name. */
  readonly group: string
  /** A service that makes nobody wait. */
  readonly quick: string
  /** One that does not look at accounts. */
  readonly lax: string
  /** One that does not come to an end. */
  readonly hanging: string
  drop(): Promise<void>
}

/** Runs a program that changes accounts, again while others have them locked. */
export async function changeAccount(program: string, ...args: string[]): Promise<void> {
  let failure: unknown
  await until(
    () => `${program} ${args.join(' ')}: ${failure}`,
    () => {
      try {
        execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
        return true
      } catch (error) {
        failure = error
        return false
      }
    },
  )
}

/** With a shell and this password, and nothing else. */
export async function anAccount(password: string): Promise<Account> {
  const id = randomBytes(4).toString('hex')
  const [user, group, quick, lax, hanging] = ['t', 'g', 'q', 'l', 'h'].map(
    (letter) => `salt-${letter}${id}`,
  ) as [...[string, string, string, string, string]]
  const services = {
    [quick]: 'auth required pam_unix.so nodelay\naccount required pam_unix.so\n',
    [lax]: 'auth required pam_unix.so nodelay\naccount required pam_permit.so\n',
    [hanging]: 'auth required pam_exec.so quiet /bin/sleep 20\naccount required pam_permit.so\n',
  }
  await changeAccount('groupadd', group)
  await changeAccount('useradd', '-M', '-s', '/bin/sh', '-G', group, user)
  execFileSync('chpasswd', { input: `${user}:${password}`, stdio: ['pipe', 'ignore', 'ignore'] })
  for (const [service, lines] of Object.entries(services)) writeFileSync(`/etc/pam.d/${service}`, lines)
  return {
    user,
    group,
    quick,
    lax,
    hanging,
    async drop() {
      for (const service of Object.keys(services)) await rm(`/etc/pam.d/${service}`)
      await changeAccount('userdel', user)
      await changeAccount('groupdel', group)
    },
  }
}
