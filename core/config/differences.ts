/**
 * How options differ in Salt, for the documentation (docs/options.md). Options that are not listed have Salt's name, default and
 * effect.
 */
import type { MasterOptions } from './master-options.ts'
import type { MinionOptions } from './minion-options.ts'

type Role = { readonly master?: string; readonly minion?: string }

const OURS = 'not in Salt'

export const differences: Readonly<
  Partial<Record<keyof MasterOptions | keyof MinionOptions, string | Role>>
> = {
  api: OURS,
  api_clients: OURS,
  audit_log: OURS,
  batch_presence_ping_gather_job_timeout: "openSUSE's Salt has it",
  batch_presence_ping_timeout: "openSUSE's Salt has it",
  catalogue_idle_time: OURS,
  catalogue_imports: OURS,
  deliver_within: OURS,
  eauth_redis_db: OURS,
  eauth_redis_password: OURS,
  eauth_redis_tls: OURS,
  eauth_redis_user: OURS,
  eauth_tokens: 'embedded and redis are not in Salt',
  event_stream_port: OURS,
  fileserver_followsymlinks: 'Salt follows links out of all file roots',
  fileserver_linked_dirs: OURS,
  jinja_env: { minion: 'Salt takes every setting of Jinja' },
  job_start_events: OURS,
  join_token: OURS,
  join_token_file: OURS,
  keep_jobs_size: OURS,
  key_audit_log: OURS,
  login_attempts: OURS,
  login_lockout: OURS,
  mask_secret_words: OURS,
  metrics_interface: OURS,
  metrics_port: OURS,
  minimum_auth_version: { minion: OURS },
  missing_returns_after: OURS,
  missed_jobs_seconds: OURS,
  outbox_keep_seconds: OURS,
  outbox_retry_timer: OURS,
  outbox_retry_timer_max: OURS,
  plugin_packages: OURS,
  postgres_auth: OURS,
  pgsql_auth: OURS,
  process_count_max: 'default -1',
  python_job_cache: OURS,
  range_server: 'default range:80',
  recon_default: 'default 1000',
  recon_max: 'default 10000',
  refuse_second_minion: OURS,
  retry_dns: 'default 30',
  returner_kwargs_allowed: OURS,
  returner_timeout: OURS,
  runner_timeout: OURS,
  salt_exit_codes: OURS,
  sign_pub_messages: { minion: 'default false' },
  visible_jobs: OURS,
  wheel_write_roots: OURS,
  worker_threads: 'default 5',
}
