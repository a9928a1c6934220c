import { join } from 'node:path'

/** Where a minion keeps returns until a master has them. */
export const spoolDirectory = (config: Readonly<Record<string, unknown>>): string =>
  join(String(config.cachedir), 'spool')

/** Where minions of versions before remembered which publications they had run. */
export const oldSeenFile = (config: Readonly<Record<string, unknown>>): string =>
  join(String(config.cachedir), 'seen', 'jobs.mdb')

/** Where a minion keeps what jobs returned (`cache_jobs`). */
export const cachedReturnsDirectory = (config: Readonly<Record<string, unknown>>): string =>
  join(String(config.cachedir), 'minion_jobs')
