import { hostname } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { deepFreeze, loadOptions } from './load.ts'
import { type ConfigLocation, configDirectory, type LoadSettings } from './location.ts'
import { type MasterOptions, masterOptions } from './master-options.ts'
import { compilePaths } from './paths.ts'

/** The configuration of a master: complete, checked, paths absolute, unchangeable. */
export type MasterConfig = Readonly<MasterOptions & ConfigLocation>

/**
 * Load the configuration of a master.
 *
 * @throws SaltError CONFIG_INVALID (with `data` file, key, reason), PERMISSIONS
 */
export function loadMasterConfig(settings: LoadSettings<MasterOptions> = {}): {
  config: MasterConfig
  warnings: string[]
} {
  const config_dir = configDirectory(settings.configDir)
  const conf_file = resolve(config_dir, 'master')
  const { options, written, warnings } = loadOptions({
    table: masterOptions,
    confFile: conf_file,
    overrides: settings.overrides,
  })
  const compiled = compilePaths(options, masterOptions)
  const config = {
    ...compiled,
    id: compiled.id || `${hostname()}_master`,
    key_audit_log: compiled.key_audit_log || auditLog(compiled),
    keep_jobs_seconds: keepJobs(options, written),
    config_dir,
    conf_file,
  }
  return { config: deepFreeze(config), warnings: [...warnings, ...dangers(config)] }
}

function dangers({ ipc_mode, open_mode }: MasterOptions): string[] {
  return [
    ...(ipc_mode === 'tcp'
      ? [
          'With ipc_mode: tcp every user of this host can read the events of this master and publish jobs through it. ' +
            'Use it only where nobody else can log in.',
        ]
      : []),
    ...(open_mode
      ? ['open_mode is on: whoever reaches this master is accepted as any minion. Turn it off soon.']
      : []),
  ]
}

/** Beside the log, if that is a file. */
function auditLog({ log_file, root_dir }: MasterOptions): string {
  const folder = isAbsolute(log_file) ? dirname(log_file) : join(root_dir, '/var/log/salt')
  return join(folder, 'key-audit.log')
}

/** Older configurations give hours. */
function keepJobs(options: MasterOptions, written: ReadonlySet<string>): number {
  const inHours = options.keep_jobs !== undefined && !written.has('keep_jobs_seconds')
  return inHours ? options.keep_jobs * 3600 : options.keep_jobs_seconds
}
