/** What the daemons share: log, user, pid file, going to the background. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { currentUser } from '../base/current-user.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { createLogger, type LogFormats, type Logger } from '../log/index.ts'
import { exitCodes } from './exit-codes.ts'
import { configFlags, helpFlags, logFlags } from './flags.ts'

export const daemonFlags = {
  daemon: boolean({ char: 'd', description: 'Run in the background.' }),
  user: string({ char: 'u', description: 'Run as this user (config: user).' }),
  'pid-file': string({ description: 'Where to write the process id (config: pidfile).' }),
  ...logFlags,
  ...configFlags,
  ...helpFlags,
}

export interface DaemonFlags {
  readonly daemon?: boolean
  readonly user?: string | undefined
  readonly 'pid-file'?: string | undefined
  readonly 'log-level'?: string | undefined
  readonly 'log-file'?: string | undefined
  readonly 'log-file-level'?: string | undefined
}

interface DaemonConfig extends LogFormats {
  readonly user: string
  readonly pidfile: string
  readonly log_file: string
  readonly log_level: string
  readonly log_level_logfile?: string | undefined
}

/** Options of the configuration that the flags set; paths are taken from where the command was typed. */
export function daemonOverrides(flags: DaemonFlags): Record<string, string> {
  const given = {
    user: flags.user,
    log_level: flags['log-level'],
    log_level_logfile: flags['log-file-level'],
  }
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** Run a daemon here, or start it in the background; gives the exit code. */
export async function runDaemon(
  name: string,
  config: DaemonConfig,
  flags: DaemonFlags,
  warnings: readonly string[],
  main: (log: Logger) => Promise<number>,
): Promise<number> {
  if (flags.daemon && process.env[IN_BACKGROUND] === undefined) return startInBackground()
  delete process.env[IN_BACKGROUND]
  const pidfile = flags['pid-file'] ?? config.pidfile
  becomeUser(config.user)
  const log = openLog(name, config, flags)
  for (const warning of warnings) log.warn(warning)
  const remove = writePidFile(pidfile, log)
  try {
    return await main(log)
  } finally {
    remove()
    await log.close()
  }
}

function openLog(name: string, config: DaemonConfig, flags: DaemonFlags): Logger {
  const path = flags['log-file'] ?? config.log_file
  return createLogger({
    program: name,
    console: { level: config.log_level },
    file: { path, level: config.log_level_logfile ?? config.log_level },
    formats: config,
  })
}

/** Set in a daemon that was started in the background, so that its `-d` is done. */
const IN_BACKGROUND = 'SALT_TS_IN_BACKGROUND'

/** The same command again, detached from this terminal. */
function startInBackground(): number {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, [IN_BACKGROUND]: '1' },
  })
  child.unref()
  return child.pid === undefined ? exitCodes.failed : exitCodes.ok
}

/** Node has it, its types do not. */
const supplementaryGroups = process as { initgroups?(user: string, group: number): void }

/** Give up being root for the user of the configuration. */
function becomeUser(user: string): void {
  const me = currentUser()
  if (user === '' || user === me) return
  if (process.getuid?.() !== 0) {
    throw new SaltError(
      'PERMISSIONS',
      `This must run as ${user} (option user), or be started by root; it was started by ${me}.`,
    )
  }
  const entry = passwdEntry(user)
  supplementaryGroups.initgroups?.(user, entry.gid)
  process.setgid?.(entry.gid)
  process.setuid?.(entry.uid)
}

function passwdEntry(user: string): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((row) => row.startsWith(`${user}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  throw new SaltError('CONFIG_INVALID', `There is no user '${user}' on this host (option user).`)
}

/** Gives what removes it. A pid file that cannot be written is a warning: the daemon works without. */
function writePidFile(path: string, log: Logger): () => void {
  if (path === '') return () => {}
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${process.pid}\n`)
  } catch (error) {
    log.warn(`The pid file cannot be written: ${messageOf(error)}`)
    return () => {}
  }
  return () => {
    if (readFileSync(path, 'utf8').trim() === String(process.pid)) rmSync(path, { force: true })
  }
}
