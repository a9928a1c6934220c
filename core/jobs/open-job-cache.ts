import type { MasterConfig } from '../config/index.ts'
import { JobCache, type JobCacheOptions } from './job-cache.ts'
import { targetsOf, targetText } from './outbox-target.ts'
import { jobCacheDirectory } from './paths.ts'

/** Of `master_job_cache` the embedded store: it is always there, others get what it gets. */
const EMBEDDED = 'local_cache'

/** The job cache of a master, for whoever writes to it. */
export const openJobCache = (
  config: MasterConfig,
  options: Pick<JobCacheOptions, 'clock' | 'onDamage' | 'onQueued'> = {},
): JobCache =>
  JobCache.open(jobCacheDirectory(config), {
    ...options,
    sinks: jobSinks(config),
    loadSinks: loadSinks(config),
    endTimes: config.job_cache_store_endtime,
  })

/** Targets that get every job and return. */
export const jobSinks = ({ master_job_cache }: MasterConfig): string[] =>
  targetsOf(master_job_cache)
    .map(targetText)
    .filter((target) => target !== EMBEDDED)

/** Targets that get every job, of which minions write the returns. */
export const loadSinks = ({ ext_job_cache }: MasterConfig): string[] =>
  targetsOf(ext_job_cache).map(targetText)

/** Returners that jobs can be read from, besides the embedded store. */
export const jobSources = (config: MasterConfig): string[] => [
  ...new Set([...jobSinks(config), ...loadSinks(config)]),
]
