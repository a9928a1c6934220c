import { hostname } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { byteSize } from '../base/byte-size.ts'
import { SaltError } from '../base/errors.ts'
import { deepFreeze, loadOptions } from './load.ts'
import { type ConfigLocation, checkSettings, configDirectory, type LoadSettings } from './location.ts'
import { type MasterOptions, masterOptions } from './master-options.ts'
import { compilePaths } from './paths.ts'

/** The configuration of a master: complete, checked, frozen, with absolute paths. */
export type MasterConfig = Readonly<MasterOptions & ConfigLocation>

/**
 * Load the configuration of a master.
 *
 * @throws SaltError CONFIG_INVALID (with `data` file, key, reason), PERMISSIONS
 */
export function loadMasterConfig(settings: LoadSettings<MasterOptions> = {}): {
  config: MasterConfig
  warnings: string[]
  misspelt: string[]
  read: readonly string[]
} {
  checkSettings('loadMasterConfig', settings)
  const config_dir = configDirectory(settings.configDir)
  const conf_file = resolve(config_dir, 'master')
  const { options, written, warnings, misspelt, read } = loadOptions({
    table: masterOptions,
    confFile: conf_file,
    overrides: settings.overrides,
  })
  refuseOnePort(options, conf_file)
  refuseDelivery({ ...options, keep_jobs_seconds: keepJobs(options, written) }, conf_file)
  const compiled = compilePaths(options, masterOptions)
  const config = {
    ...compiled,
    id: compiled.id || `${hostname()}_master`,
    audit_log: compiled.audit_log || besideLog(compiled, 'audit.log'),
    key_audit_log: compiled.key_audit_log || besideLog(compiled, 'key-audit.log'),
    keep_jobs_seconds: keepJobs(options, written),
    keep_jobs_size: keepJobsSize(options, conf_file),
    config_dir,
    conf_file,
  }
  return { config: deepFreeze(config), warnings: [...warnings, ...dangers(config)], misspelt, read }
}

/** Throw if both ports are equal. Port 0 is allowed: the system chooses a different one for each. */
function refuseOnePort({ publish_port, ret_port }: MasterOptions, file: string): void {
  if (publish_port !== ret_port || ret_port === 0) return
  throw new SaltError(
    'CONFIG_INVALID',
    `The options publish_port and ret_port are both ${ret_port}: give one of them another port in ${file} or wherever else it is set.`,
    { key: 'publish_port' },
  )
}

/** Throw if jobs cannot wait for minions as long as `deliver_within` says: every job would be refused. */
function refuseDelivery(options: MasterOptions, file: string): void {
  const { deliver_within: seconds, job_cache, keep_jobs_seconds: kept } = options
  if (seconds === 0 || (job_cache && (kept === 0 || seconds <= kept))) return
  const why = job_cache ? `is longer than keep_jobs_seconds (${kept})` : 'needs job_cache, which is off'
  throw new SaltError(
    'CONFIG_INVALID',
    `The option deliver_within (${seconds}) ${why}: correct one of them in ${file} or wherever else it is set.`,
    { key: 'deliver_within' },
  )
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
      ? ['open_mode is on: anybody who can reach this master is accepted as any minion. Turn it off soon.']
      : []),
  ]
}

/** Return keep_jobs_size in bytes. */
function keepJobsSize({ keep_jobs_size }: MasterOptions, file: string): number {
  const bytes = byteSize(keep_jobs_size)
  if (bytes !== undefined) return bytes
  throw new SaltError(
    'CONFIG_INVALID',
    `The option keep_jobs_size must be a size such as 512M or 2G, or a number of bytes, but is ${JSON.stringify(keep_jobs_size)}. Correct it in ${file} or wherever else it is set.`,
    { key: 'keep_jobs_size' },
  )
}

/** Return a path beside the log file, if the log goes to a file. */
function besideLog({ log_file, root_dir }: MasterOptions, name: string): string {
  const folder = isAbsolute(log_file) ? dirname(log_file) : join(root_dir, '/var/log/salt')
  return join(folder, name)
}

/** Return keep_jobs_seconds. Older configurations set keep_jobs, in hours, instead. */
function keepJobs(options: MasterOptions, written: ReadonlySet<string>): number {
  const inHours = options.keep_jobs !== undefined && !written.has('keep_jobs_seconds')
  return inHours ? options.keep_jobs * 3600 : options.keep_jobs_seconds
}
