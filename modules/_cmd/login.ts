import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { CommandExecutionError, type Context, type Log } from 'salt-ts'
import type { Env } from './env.ts'
import { findGroup, findUser, type User } from './users.ts'
import { which } from './which.ts'

/** The user a command runs as, and the command prefix or the options of spawn that switch to user and group. */
export interface Identity {
  readonly user?: User
  readonly prefix: readonly string[]
  readonly spawn: { readonly uid?: number; readonly gid?: number }
}

/**
 * Resolve `runas` and `group`. @throws CommandExecutionError if one does not exist, or the minion may not switch to it
 */
export async function identify(
  runas: string | undefined,
  group: string | undefined,
  log: Log,
): Promise<Identity> {
  const user = runas === undefined ? undefined : await findUser(runas)
  if (runas !== undefined && !user) throw new CommandExecutionError(`User '${runas}' is not available`)
  const groupEntry = group === undefined ? undefined : await findGroup(group)
  if (group !== undefined && !groupEntry) throw new CommandExecutionError(`Group '${group}' is not available`)
  const uid = user?.uid
  const gid = groupEntry?.gid ?? user?.gid
  if (isAlready(uid, gid)) return { user, prefix: [], spawn: {} }
  if (process.getuid?.() !== 0) {
    const who = [user && `user '${user.name}'`, groupEntry && `group '${groupEntry.name}'`]
      .filter(Boolean)
      .join(' and ')
    throw new CommandExecutionError(`Cannot run a command as ${who}: the minion does not run as root`)
  }
  return { user, ...(await change(uid, gid, log)) }
}

const isAlready = (uid: number | undefined, gid: number | undefined): boolean =>
  (uid === undefined || uid === process.getuid?.()) && (gid === undefined || gid === process.getgid?.())

// setpriv also sets the supplementary groups. spawn drops them all, which is safe, but less than a login has.
async function change(
  uid: number | undefined,
  gid: number | undefined,
  log: Log,
): Promise<Omit<Identity, 'user'>> {
  const setpriv = await which('setpriv')
  if (setpriv === null || basename(await realpath(setpriv)) === 'busybox') {
    log.warn("setpriv of util-linux is not installed: a command with runas has only the user's primary group")
    return { prefix: [], spawn: { uid, gid } }
  }
  const asUser = uid === undefined ? ['--keep-groups'] : ['--reuid', String(uid), '--init-groups']
  return { prefix: [setpriv, '--regid', String(gid), ...asUser, '--'], spawn: {} }
}

/**
 * Return the environment of a login of the user, including what profile files set. Cached for the job, since reading it
 * starts a shell.
 */
export async function loginEnv(user: User, shell: string, context: Context): Promise<Env> {
  const key = `cmd.login-env:${user.name}:${shell}`
  const known = context.context.get(key) as Promise<Env> | undefined
  const reading = known ?? readLoginEnv(user, shell, context)
  context.context.set(key, reading)
  return { LOGNAME: user.name, SHELL: user.shell, ...(await reading), USER: user.name, HOME: user.home }
}

async function readLoginEnv(user: User, shell: string, context: Context): Promise<Env> {
  if (process.getuid?.() !== 0) return {}
  const marker = `<<<${randomUUID()}>>>`
  const script = `printf '%s' '${marker}'; env -0; printf '%s' '${marker}'`
  const printed = await output('su', ['-s', shell, '-', user.name, '-c', script], context.signal)
  const [, block] = printed?.split(marker) ?? []
  if (block === undefined) {
    context.log.error(`Environment could not be retrieved for user '${user.name}'`)
    return {}
  }
  const pairs = block.split('\0').filter((pair) => pair.includes('='))
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
}

function output(program: string, args: string[], signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { timeout: 10_000, signal, cwd: '/' }, (error, stdout) =>
      resolve(error ? undefined : stdout),
    )
    child.stdin?.end()
  })
}
