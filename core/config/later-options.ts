/**
 * Options of Salt, by prefix or name, that salt-ts does not have, so that an existing configuration gets no warnings about unknown
 * options. Their types are not checked.
 */
const families = [
  'azurefs_',
  'batch_',
  'cluster_',
  'decrypt_pillar',
  'fileserver_',
  'git_pillar_',
  'gitfs_',
  'gpg_',
  'hgfs_',
  'libcloud_',
  'minionfs_',
  'pillar_',
  'proxy_',
  'roster',
  's3fs_',
  'ssh_',
  'svnfs_',
  'thorium_',
  'vault',
  'winrepo_',
  'worker_pool',
]

const single = new Set(
  `beacons_dirs cython_enable default_top disable_beacons disable_job_caches disable_pillars disable_renders
  disable_states disable_tops discovery dummy_pub
  enable_ssh_minions enforce_mine_cache env_order environment event_listen_queue
  event_listen_queue_max_seconds event_match_type event_publisher_niceness event_publisher_pub_hwm fire_event
  http_connect_timeout http_max_body http_request_timeout job_cache_dirs key_cache lock_saltenv log_forwarding_level log_fmt_jid
  log_rotate_backup_count log_rotate_max_bytes maintenance_niceness master_roots master_tops memcache_debug
  memcache_expire_seconds memcache_full_cleanup memcache_max_items minion_pillar_cache
  mworker_niceness mworker_queue_niceness on_demand_ext_pillar optimization_order pass_strict_fetch
  pillarenv_from_saltenv proxy pub_server_niceness python_pillar render_dirs req_server_niceness renderer
  renderer_blacklist renderer_whitelist return_config return_kwargs runner_timeout salt_event_pub_hwm saltversion
  signals state_aggregate states_dirs state_auto_order state_top state_top_saltenv sub_timeout tcp_authentication_retries tcp_reconnect_backoff test
  tgtadmin thin_extra_mods top_dirs top_file top_file_merging_strategy transition update_restart_services update_url
  use_master_when_local use_os_truststore use_yamlloader_old verify_env webhook_disable_auth yaml_utf8`.split(
    /\s+/,
  ),
)

/** Whether an option of Salt has no effect in salt-ts yet. */
export function isLaterOption(name: string): boolean {
  return single.has(name) || families.some((family) => name.startsWith(family))
}
