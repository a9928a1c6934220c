import { join } from 'node:path'
import type { MasterConfig } from '../config/index.ts'

/** Job cache, cached grains and replay memory: each an LMDB environment in the master's cache directory. */
export const jobCacheDirectory = (config: MasterConfig): string => join(config.cachedir, 'job_cache')
export const minionDataDirectory = (config: MasterConfig): string => join(config.cachedir, 'minion_data')
export const replayDirectory = (config: MasterConfig): string => join(config.cachedir, 'replays')
/** What of events is on its way to `event_return`. */
export const eventOutboxDirectory = (config: MasterConfig): string => join(config.cachedir, 'event_outbox')

/** Ids of the minions that are connected, as JSON; written by the publisher. */
export const connectedFile = (config: MasterConfig): string => join(config.cachedir, 'connected.json')
