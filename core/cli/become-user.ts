/** The user of the configuration: a program that root starts gives up being root for it. */
import { readFileSync } from 'node:fs'
import { currentUser } from '../base/current-user.ts'
import { SaltError } from '../base/errors.ts'

export interface Account {
  readonly uid: number
  readonly gid: number
  readonly home: string
}

interface UserConfig {
  readonly user: string
  readonly conf_file: string
}

/**
 * The account that this program has to change to; undefined if it runs as that user already.
 * @throws SaltError PERMISSIONS, CONFIG_INVALID
 */
export function accountToBecome(program: string, { user, conf_file }: UserConfig): Account | undefined {
  const uid = process.getuid?.() ?? 0
  const account = accountOf(user)
  if (user === '' || account?.uid === uid || user === String(uid)) return undefined
  if (uid !== 0) {
    throw new SaltError(
      'PERMISSIONS',
      `${program} must be run by ${user} (option 'user' in ${conf_file}) or by root; you are '${currentUser()}'. Use sudo.`,
    )
  }
  if (account) return account
  throw new SaltError(
    'CONFIG_INVALID',
    `There is no user '${user}' on this host (option 'user' in ${conf_file}).`,
  )
}

/** Become that user, for good: its groups, and no right to go back. */
export function becomeUser(user: string, { uid, gid, home }: Account): void {
  supplementaryGroups.initgroups?.(user, gid)
  process.setgid?.(gid)
  process.setuid?.(uid)
  Object.assign(process.env, { USER: user, LOGNAME: user, HOME: home })
}

/** Node has it, its types do not. */
const supplementaryGroups = process as { initgroups?(user: string, group: number): void }

function accountOf(user: string): Account | undefined {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const [, , uid, gid, , home] = lines.find((row) => row.startsWith(`${user}:`))?.split(':') ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid), home: home ?? '/' } : undefined
}

/** For commands that change what belongs to a daemon: its files must stay its own. */
export function runAs(program: string, config: UserConfig): void {
  const account = accountToBecome(program, config)
  if (account) becomeUser(config.user, account)
}
