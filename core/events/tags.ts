/** Longest tag that minions and API servers may fire. Characters. */
export const MAX_TAG_LENGTH = 512

/** Every tag that salt-ts uses (wire protocol §12). Tags are defined only here. */
export const tags = {
  // Jobs
  /** Fired when a job is published, with `{minions}`. */
  jobPublished: (jid: string) => jid,
  /** Prefix of the tags of all jobs. */
  jobs: 'salt/job/',
  /** Prefix of the tags of one job. */
  job: (jid: string) => `salt/job/${jid}/`,
  jobNew: (jid: string) => `salt/job/${jid}/new`,
  jobReturn: (jid: string, id: string) => `salt/job/${jid}/ret/${id}`,
  /** The job has begun on a salt-ts minion and has not ended at once. */
  jobStart: (jid: string, id: string) => `salt/job/${jid}/start/${id}`,
  /** Prefix of the tags of the rows of one job. */
  jobRows: (jid: string) => `salt/job/${jid}/prog/`,
  jobProgress: (jid: string, id: string, n: string | number) => `salt/job/${jid}/prog/${id}/${n}`,
  /** A syndic has said for which minions it speaks in a job. */
  jobSyndic: (jid: string, id: string) => `salt/job/${jid}/syndic/${id}`,
  jobError: (jid?: string) => (jid ? `salt/job/${jid}/error` : 'salt/job/error'),

  /** With `deliver_within`: a minion has taken the job, or does not get it any more. */
  jobDelivery: (jid: string, state: 'delivered' | 'expired' | 'cancelled', id: string) =>
    `salt/job/${jid}/${state}/${id}`,

  /** A returner of `--return` has written the return of a minion, or has failed to. */
  jobStored: (jid: string, id: string, returner: string) => `salt/job/${jid}/stored/${id}/${returner}`,

  /** Return the jid of the job or run that a tag belongs to, also if a syndic forwards it. */
  jidOf: (tag: string): string | undefined => /(?:^|\/(?:job|batch|run|wheel)\/)(\d{20}[^/]*)/.exec(tag)?.[1],

  // Batches that the master runs
  batchStart: (jid: string) => `salt/batch/${jid}/start`,
  batchDone: (jid: string) => `salt/batch/${jid}/done`,

  // Keys and minions
  auth: 'salt/auth',
  key: 'salt/key',
  /** The AES key was rotated. */
  keyRotated: 'key',
  minionStart: (id: string) => `salt/minion/${id}/start`,
  minionStartLegacy: 'minion_start',
  minionPing: 'minion_ping',
  minionRefresh: (id: string) => `minion/refresh/${id}`,
  presencePresent: 'salt/presence/present',
  presenceChange: 'salt/presence/change',
  beacon: (id: string, beacon: string) => `salt/beacon/${id}/${beacon}/`,
  saltError: '_salt_error',

  // Syndics
  syndicStart: (id: string) => `salt/syndic/${id}/start`,
  syndicStartLegacy: 'syndic_start',
  syndicForwarded: (id: string, tag: string) => `syndic/${id}/${tag}`,

  // Runners and wheel
  /** Prefix of the tags of all runners. */
  runs: 'salt/run/',
  run: (jid: string) => `salt/run/${jid}`,
  wheel: (jid: string) => `salt/wheel/${jid}`,
  runNew: (jid: string) => `salt/run/${jid}/new`,
  runReturn: (jid: string) => `salt/run/${jid}/ret`,
  runProgress: (jid: string) => `salt/run/${jid}/progress`,
  runArgs: (jid: string) => `salt/run/${jid}/args`,
  wheelNew: (jid: string) => `salt/wheel/${jid}/new`,
  wheelReturn: (jid: string) => `salt/wheel/${jid}/ret`,
  wheelProgress: (jid: string) => `salt/wheel/${jid}/progress`,

  // The API
  /** Prefix of the tags of requests to its hooks. */
  netapi: 'salt/netapi/',
  /** A request was sent to `/hook` of salt-api, or to a path below it. */
  hook: (path: string) => (path ? `salt/netapi/hook/${path}` : 'salt/netapi/hook'),

  // External stores
  /** The store of a returner has become unavailable (`down`), or is available again (`up`). */
  returnerState: (name: string, state: 'up' | 'down') => `salt/returner/${name}/${state}`,
  /** The same for a returner on a minion. */
  minionReturnerState: (id: string, name: string, state: 'up' | 'down') =>
    `salt/minion/${id}/returner/${name}/${state}`,

  // The master about itself
  /** The job cache exceeded `keep_jobs_size`, and the oldest jobs were removed. */
  jobsDropped: 'salt/jobs/dropped',
  stats: (worker: string) => `salt/stats/${worker}`,
  fileserverUpdate: (backend: string) => `salt/fileserver/${backend}/update`,
  eventListenStart: 'salt/event_listen/start',
  eventExit: 'salt/event/exit',

  // On a minion's own bus (§11)
  masterConnected: '__master_connected',
  masterDisconnected: '__master_disconnected',
  authCreds: 'salt/auth/creds',
  fireMaster: 'fire_master',
  moduleRefresh: 'module_refresh',
  moduleRefreshDone: '/salt/minion/minion_mod_refresh_complete',
  pillarRefresh: 'pillar_refresh',
  pillarRefreshDone: '/salt/minion/minion_pillar_refresh_complete',
  grainsRefresh: 'grains_refresh',
  matchersRefresh: 'matchers_refresh',
  beaconsRefresh: 'beacons_refresh',
  manageSchedule: 'manage_schedule',
  manageBeacons: 'manage_beacons',
  environSet: 'environ_setenv',
  mine: '_minion_mine',
  scheduleReturn: '__schedule_return',
  beaconsReturn: '__beacons_return',
  requestPayload: (requestId: string, master: string) =>
    `__master_req_channel_payload/${requestId}/${master}`,
  requestReturn: (requestId: string) => `__master_req_channel_return/${requestId}`,
} as const
