/** The option `user`: a program that root starts drops its privileges and runs as that user. */
import { accessSync, constants, readFileSync } from 'node:fs'
import { currentUser } from '../../base/current-user.ts'
import { SaltError } from '../../base/errors.ts'

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
 * Return the account to switch to, undefined if the program runs as that user already.
 * @throws SaltError PERMISSIONS, CONFIG_INVALID
 */
export function accountToSwitchTo(program: string, { user, conf_file }: UserConfig): Account | undefined {
  const uid = process.getuid?.() ?? 0
  const account = accountOf(user)
  if (user === '' || account?.uid === uid || user === String(uid)) return undefined
  if (uid !== 0) {
    throw new SaltError(
      'PERMISSIONS',
      `${program} must be run by ${user} (option 'user' in ${conf_file})${user === 'root' ? '' : ' or by root'}; you are '${currentUser()}'. Run it with sudo, or as that user.`,
    )
  }
  if (account) return account
  throw new SaltError(
    'CONFIG_INVALID',
    `There is no user '${user}' on this host (option 'user' in ${conf_file}).`,
  )
}

/** Switch to the account for good: its groups, its user, and no way back. */
export function dropPrivileges(user: string, { uid, gid, home }: Account): void {
  supplementaryGroups.initgroups?.(user, gid)
  process.setgid?.(gid)
  process.setuid?.(uid)
  Object.assign(process.env, { USER: user, LOGNAME: user, HOME: home })
}

/** `initgroups` is missing in the types of Node. */
const supplementaryGroups = process as { initgroups?(user: string, group: number): void }

function accountOf(user: string): Account | undefined {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const [, , uid, gid, , home] = lines.find((row) => row.startsWith(`${user}:`))?.split(':') ?? []
  return uid && gid ? { uid: Number(uid), gid: Number(gid), home: home ?? '/' } : undefined
}

/**
 * Switch to the user of the configuration, for commands that change files of a master: the files must stay that user's.
 * @throws SaltError PERMISSIONS, CONFIG_INVALID
 */
export function switchToConfiguredUser(
  program: string,
  config: UserConfig & { readonly pki_dir: string },
): void {
  const account = accountToSwitchTo(program, config)
  if (account) dropPrivileges(config.user, account)
  else refuseStrangers(program, config.pki_dir)
}

/** Throw if there are keys of a master that this user may not use: each file that the command needs would be refused by itself. */
function refuseStrangers(program: string, pkiDir: string): void {
  try {
    accessSync(pkiDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return
    throw new SaltError(
      'PERMISSIONS',
      `User '${currentUser()}' may not use the keys of this master, in ${pkiDir}, which ${program} needs. Run it with sudo, or as the user of the master.`,
    )
  }
}
