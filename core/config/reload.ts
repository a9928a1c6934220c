/** SIGHUP: a running daemon reads its configuration again and applies the options that it can. */
import { isDeepStrictEqual } from 'node:util'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { deepFreeze } from './load.ts'

/** Options that every daemon applies. */
export const logOptions: ReadonlySet<string> = new Set([
  ...['log_level', 'log_level_logfile', 'log_fmt_console', 'log_fmt_logfile'],
  ...['log_datefmt', 'log_datefmt_console', 'log_datefmt_logfile', 'log_granular_levels'],
])

/** Options that start and stop engines. */
const engineOptions = ['engines', 'engines_dirs', 'disable_engines']

/** Options that a minion applies. */
export const minionReloads: ReadonlySet<string> = new Set([...logOptions, ...engineOptions, 'grains'])

/** Options that salt-api applies; it then reopens its port. */
export const apiReloads: ReadonlySet<string> = new Set([
  ...['api', 'rest_cherrypy', 'rest_tornado', 'netapi_enable_clients'],
  ...['rest_timeout', 'timeout', 'gather_job_timeout', 'deliver_within'],
])

/** Options that a master applies: in addition, those that only its workers use, and programs that read them when they start. */
export const masterReloads: ReadonlySet<string> = new Set([
  ...logOptions,
  ...engineOptions,
  ...apiReloads,
  ...[
    'external_auth',
    'publisher_acl',
    'publisher_acl_blacklist',
    'client_acl_verify',
    'permissive_acl',
    'sudo_acl',
  ],
  ...['keep_acl_in_token', 'token_expire', 'token_expire_user_override', 'sharedsecret'],
  ...['mysql_auth', 'postgres_auth', 'pgsql_auth', 'peer', 'peer_run', 'visible_jobs'],
  ...[
    'auto_accept',
    'autosign_file',
    'autosign_timeout',
    'autosign_grains_dir',
    'autoreject_file',
    'max_minions',
  ],
  ...[
    'allow_minion_key_revoke',
    'request_server_ttl',
    'require_minion_sign_messages',
    'drop_messages_signature_fail',
  ],
  ...['nodegroups', 'range_server', 'roster_file', 'wheel_write_roots'],
  ...[
    'file_roots',
    'file_ignore_glob',
    'file_ignore_regex',
    'fileserver_backend',
    'fileserver_followsymlinks',
  ],
  ...[
    'fileserver_ignoresymlinks',
    'fileserver_linked_dirs',
    'file_recv',
    'file_recv_max_size',
    'file_buffer_size',
  ],
  ...['keep_jobs', 'keep_jobs_seconds', 'keep_jobs_size', 'runner_timeout'],
  ...['batch_presence_ping_timeout', 'batch_presence_ping_gather_job_timeout'],
  ...['cli_summary', 'show_timeout', 'show_jid', 'output', 'color'],
])

/** A checked configuration with its warnings. */
export interface Loaded<T> {
  readonly config: T
  readonly warnings: readonly string[]
}

export interface Reloaded<T> {
  readonly config: T
  /** Names of the options that changed. */
  readonly changed: ReadonlySet<string>
}

/**
 * Return the running configuration with the changed options of `reloads`; other changes are logged. If the new configuration is
 * invalid, that is logged, undefined is returned, and nothing changes.
 */
export async function applyReload<T extends object>(
  running: T,
  reloads: ReadonlySet<string>,
  { load, log }: { readonly load: () => Promise<Loaded<T>>; readonly log: Log },
): Promise<Reloaded<T> | undefined> {
  let loaded: Loaded<T>
  try {
    loaded = await load()
  } catch (error) {
    log.error(`The configuration could not be read again (SIGHUP), so nothing changes: ${messageOf(error)}`)
    return undefined
  }
  for (const warning of loaded.warnings) log.warn(warning)
  const written = { ...loaded.config } as Readonly<Record<string, unknown>>
  const before = { ...running } as Readonly<Record<string, unknown>>
  const names = [...new Set([...Object.keys(before), ...Object.keys(written)])]
  const differing = names.filter((name) => !isDeepStrictEqual(before[name], written[name]))
  const changed = differing.filter((name) => reloads.has(name))
  const left = differing.filter((name) => !reloads.has(name))
  const now =
    changed.length > 0 ? `Changed options: ${changed.join(', ')}.` : 'No option in effect has changed.'
  log.info(`The configuration was read again (SIGHUP). ${now}`)
  if (left.length > 0)
    log.warn(`These options were changed but take effect only after a restart: ${left.join(', ')}.`)
  const taken = Object.fromEntries(changed.map((name) => [name, written[name]]))
  return { config: deepFreeze({ ...running, ...taken }) as T, changed: new Set(changed) }
}
