import { join } from 'node:path'
import type { MasterConfig } from './index.ts'

/** Directories of the job cache, the cached grains and the replay memory: LMDB environments in the master's cachedir. */
export const jobCacheDirectory = (config: MasterConfig): string => join(config.cachedir, 'job_cache')
export const minionDataDirectory = (config: MasterConfig): string => join(config.cachedir, 'minion_data')
export const replayDirectory = (config: MasterConfig): string => join(config.cachedir, 'replays')
/** Events that wait to be written to `event_return`. */
export const eventOutboxDirectory = (config: MasterConfig): string => join(config.cachedir, 'event_outbox')

/** File with the ids of the connected minions, as JSON; the publisher writes it. */
export const connectedFile = (config: MasterConfig): string => join(config.cachedir, 'connected.json')

/** File with what the other masters of the cluster said of theirs, as JSON; the cluster process writes it. */
export const connectedElsewhereFile = (config: MasterConfig): string =>
  join(config.cachedir, 'connected-elsewhere.json')
