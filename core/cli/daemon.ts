/** What the daemons share: log, user, pid file, going to the background. */
import { spawn } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { messageOf } from '../base/errors.ts'
import { complaints } from '../loader/directories.ts'
import { type DaemonLogOptions, type Logger, openDaemonLog } from '../log/index.ts'
import { type Account, accountToBecome, becomeUser } from './become-user.ts'
import { exitCodes } from './exit-codes.ts'
import { configFlags, helpFlags, logFlags } from './flags.ts'
import { handOver } from './hand-over.ts'

export const daemonFlags = {
  daemon: boolean({ char: 'd', description: 'Run in the background.' }),
  user: string({ char: 'u', description: 'Run as this user (config: user).' }),
  'pid-file': string({ description: 'Where to write the process id (config: pidfile).' }),
  ...logFlags,
  ...configFlags,
  ...helpFlags,
}

export const essentialDaemonFlags = ['daemon', 'user', 'pid-file', 'log-level', 'log-file', 'config-dir']

export interface DaemonFlags {
  readonly daemon?: boolean
  readonly user?: string | undefined
  readonly 'pid-file'?: string | undefined
  readonly 'log-level'?: string | undefined
  readonly 'log-file'?: string | undefined
  readonly 'log-file-level'?: string | undefined
}

interface DaemonConfig extends DaemonLogOptions {
  readonly conf_file: string
  readonly user: string
  readonly pidfile: string
  readonly pki_dir: string
  readonly cachedir: string
  readonly sock_dir: string
}

/** The configuration with the files that were named on the command line, as seen from where that was typed. */
export function withFiles<T extends DaemonConfig>(config: T, flags: DaemonFlags): T {
  const { 'log-file': log, 'pid-file': pid } = flags
  return {
    ...config,
    ...(log !== undefined && { log_file: resolve(log) }),
    ...(pid !== undefined && { pidfile: resolve(pid) }),
  }
}

/** Options of the configuration that the flags set. */
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
  const account = accountToBecome(name, config)
  if (account) handOver(config, account)
  const pidFile = writePidFile(config.pidfile, account)
  if (account) becomeUser(config.user, account)
  const log = openDaemonLog(name, config)
  const told = [...warnings, ...complaints({ ...config }), ...(pidFile.problem ? [pidFile.problem] : [])]
  for (const warning of told) log.warn(warning)
  try {
    return await main(log)
  } finally {
    pidFile.remove()
    await log.close()
  }
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

interface PidFile {
  /** What kept it from being written; the daemon works without. */
  readonly problem?: string
  remove(): void
}

/** Written before root becomes another user, and given to that one. */
function writePidFile(path: string, account: Account | undefined): PidFile {
  if (path === '') return { remove: () => {} }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
    writeFileSync(path, `${process.pid}\n`)
    if (account) chownSync(path, account.uid, account.gid)
    return { remove: () => removePidFile(path) }
  } catch (error) {
    return { problem: `The pid file cannot be written: ${messageOf(error)}`, remove: () => {} }
  }
}

/** Where this user may not remove files, it is left empty. */
function removePidFile(path: string): void {
  try {
    if (readFileSync(path, 'utf8').trim() !== String(process.pid)) return
    truncateSync(path)
    rmSync(path, { force: true })
  } catch {
    // It says nothing any more, or is gone.
  }
}
