import { join } from 'node:path'

/** Directory of the returns that no master has acknowledged yet. */
export const spoolDirectory = (config: Readonly<Record<string, unknown>>): string =>
  join(String(config.cachedir), 'spool')

/** File in which earlier versions recorded the publications that the minion had run. */
export const oldSeenFile = (config: Readonly<Record<string, unknown>>): string =>
  join(String(config.cachedir), 'seen', 'jobs.mdb')

/** Directory of the returns that the minion keeps with `cache_jobs`. */
export const cachedReturnsDirectory = (config: Readonly<Record<string, unknown>>): string =>
  join(String(config.cachedir), 'minion_jobs')
