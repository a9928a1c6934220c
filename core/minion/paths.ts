import { join } from 'node:path'

/** Where a minion keeps returns until a master has them. */
export const spoolDirectory = (config: Readonly<Record<string, unknown>>): string =>
  join(String(config.cachedir), 'spool')

/** Where a minion remembers which publications it has run. */
export const seenDirectory = (config: Readonly<Record<string, unknown>>): string =>
  join(String(config.cachedir), 'seen')

/** Where a minion keeps what jobs returned (`cache_jobs`). */
export const cachedReturnsDirectory = (config: Readonly<Record<string, unknown>>): string =>
  join(String(config.cachedir), 'minion_jobs')
