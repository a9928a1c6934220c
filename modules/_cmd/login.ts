import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { CommandExecutionError, type Context, type Log } from 'salt-ts'
import type { Env } from './env.ts'
import { findGroup, findUser, type User } from './users.ts'
import { which } from './which.ts'

/** Who a command runs as, and what is put before its words (or given to spawn) to get there. */
export interface Identity {
  readonly user?: User
  readonly prefix: readonly string[]
  readonly spawn: { readonly uid?: number; readonly gid?: number }
}

/** Resolve `runas` and `group`; refuses who does not exist, and a change the minion may not make. */
export async function identify(
  runas: string | undefined,
  group: string | undefined,
  log: Log,
): Promise<Identity> {
  const user = runas === undefined ? undefined : await findUser(runas)
  if (runas !== undefined && !user) throw new CommandExecutionError(`User '${runas}' is not available`)
  const team = group === undefined ? undefined : await findGroup(group)
  if (group !== undefined && !team) throw new CommandExecutionError(`Group '${group}' is not available`)
  const uid = user?.uid
  const gid = team?.gid ?? user?.gid
  if (isAlready(uid, gid)) return { user, prefix: [], spawn: {} }
  if (process.getuid?.() !== 0) {
    const who = [user && `user '${user.name}'`, team && `group '${team.name}'`].filter(Boolean).join(' and ')
    throw new CommandExecutionError(`Cannot run a command as ${who}: the minion does not run as root`)
  }
  return { user, ...(await change(uid, gid, log)) }
}

const isAlready = (uid: number | undefined, gid: number | undefined): boolean =>
  (uid === undefined || uid === process.getuid?.()) && (gid === undefined || gid === process.getgid?.())

// setpriv sets the supplementary groups too. Without it spawn drops them all, which is safe but less than a login.
async function change(
  uid: number | undefined,
  gid: number | undefined,
  log: Log,
): Promise<Omit<Identity, 'user'>> {
  const setpriv = await which('setpriv')
  if (setpriv === null || basename(await realpath(setpriv)) === 'busybox') {
    log.warn("Without util-linux's setpriv a command with runas has only the user's primary group")
    return { prefix: [], spawn: { uid, gid } }
  }
  const asUser = uid === undefined ? ['--keep-groups'] : ['--reuid', String(uid), '--init-groups']
  return { prefix: [setpriv, '--regid', String(gid), ...asUser, '--'], spawn: {} }
}

/** What a login of the user sets, profile files included. Kept for the job, since it starts a shell. */
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
