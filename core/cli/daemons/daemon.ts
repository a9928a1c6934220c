/** Flags and start of the daemons: log, user, pid file, background. */
import { resolve } from 'node:path'
import { boolean, string } from '@oclif/core/flags'
import { messageOf } from '../../base/errors.ts'
import { missingPackageWarnings } from '../../loader/files/directories.ts'
import { type DaemonLog, type DaemonLogOptions, openDaemonLog, unknownFields } from '../../log/index.ts'
import { exitCodeOf } from '../exit-codes.ts'
import { configFlags, helpFlags, logFlags } from '../flags.ts'
import { type ConfigRemarks, logRead } from '../output/console.ts'
import { openStartReporter, type StartReporter, startInBackground } from './background.ts'
import { type Account, accountToSwitchTo, dropPrivileges } from './become-user.ts'
import { chownForDaemonUser, type DaemonPaths, unwritableLogFolders } from './chown-for-daemon-user.ts'
import { defaultPathsNote } from './default-paths.ts'
import { pidFile } from './pid-file.ts'

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

interface DaemonConfig extends DaemonLogOptions, DaemonPaths {
  readonly conf_file: string
  readonly log_file: string
}

/** Return the configuration with the files named on the command line, relative to the current folder. */
export function withFiles<T extends DaemonConfig>(config: T, flags: DaemonFlags): T {
  const { 'log-file': log, 'pid-file': pid } = flags
  return {
    ...config,
    ...(log !== undefined && { log_file: resolve(log) }),
    ...(pid !== undefined && { pidfile: resolve(pid) }),
  }
}

/** Return the options of the configuration that the flags set. */
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

/** Settings that differ between daemons. */
interface DaemonPart {
  /** Runs as root, before the switch to the user of the configuration. */
  readonly asRoot?: (account: Account) => Promise<void>
  /** Run the daemon to its end and return the exit code. Calls `started` once its ports and stores are open. */
  main(log: DaemonLog, started: () => void): Promise<number>
}

/** Run a daemon in this process, or start it in the background. Returns the exit code. */
export async function runDaemon(
  name: string,
  config: DaemonConfig,
  flags: DaemonFlags,
  remarks: Pick<ConfigRemarks, 'warnings' | 'read'>,
  part: DaemonPart,
): Promise<number> {
  const starter = openStartReporter(flags.daemon ?? false)
  if (!starter) return startInBackground(name)
  try {
    return await runHere(name, config, remarks, { ...part, starter })
  } catch (error) {
    starter.failed(error)
    throw error
  }
}

async function runHere(
  name: string,
  config: DaemonConfig,
  { warnings, read }: Pick<ConfigRemarks, 'warnings' | 'read'>,
  { main, asRoot, starter }: DaemonPart & { readonly starter: StartReporter },
): Promise<number> {
  const account = accountToSwitchTo(name, config)
  if (account) {
    chownForDaemonUser(config, account)
    await asRoot?.(account)
    dropPrivileges(config.user, account)
  }
  const log = openDaemonLog(name, config, starter.terminal)
  const startWarnings = [
    ...warnings,
    ...defaultPathsNote(name, config),
    ...missingPackageWarnings({ ...config }),
    ...unknownFields(config),
    ...unwritableLogFolders(config),
  ]
  logRead(log, read)
  for (const warning of startWarnings) log.warn(warning)
  const pid = pidFile(config.pidfile, (problem) => log.warn(problem))
  try {
    return await main(log, () => {
      pid.write()
      starter.ready()
    })
  } catch (error) {
    log.error(messageOf(error))
    return exitCodeOf(error)
  } finally {
    pid.remove()
    await log.close()
  }
}
