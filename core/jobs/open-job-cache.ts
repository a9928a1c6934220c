import { jobCacheDirectory } from '../config/cachedir.ts'
import type { MasterConfig } from '../config/index.ts'
import { targetsOf, targetText } from '../outbox/outbox-target.ts'
import { JobCache, type JobCacheOptions } from './job-cache.ts'

/** Name of the embedded store in `master_job_cache`. It is always used; the other stores get copies. */
const EMBEDDED = 'local_cache'

/** Open the job cache of a master for writing. */
export const openJobCache = (
  config: MasterConfig,
  options: Pick<JobCacheOptions, 'clock' | 'onDamage' | 'onQueued'> = {},
): JobCache =>
  JobCache.open(jobCacheDirectory(config), {
    ...options,
    sinks: [...jobSinks(config), ...syndicSinks(config)],
    loadSinks: loadSinks(config),
    endTimes: config.job_cache_store_endtime,
  })

/** Return the outbox targets that get every job and return. */
export const jobSinks = ({ master_job_cache }: MasterConfig): string[] =>
  targetsOf(master_job_cache)
    .map(targetText)
    .filter((target) => target !== EMBEDDED)

/** Name of the outbox targets of `salt-syndic`, which no returner process serves. */
export const SYNDIC = 'syndic'

/** Return the outbox target of a master above, as it is configured. */
export const syndicSink = (master: string): string => targetText({ name: SYNDIC, kwargs: { master } })

/** Return the outbox targets that get every job and return for the masters above (`syndic_master`). */
const syndicSinks = ({ syndic_master }: MasterConfig): string[] =>
  [syndic_master ?? []].flat().map((master) => syndicSink(String(master)))

/** Return the outbox targets that get every job. Minions write the returns to these stores. */
export const loadSinks = ({ ext_job_cache }: MasterConfig): string[] =>
  targetsOf(ext_job_cache).map(targetText)

/** Return the returners from which jobs can be read, besides the embedded store. */
export const jobSources = (config: MasterConfig): string[] => [
  ...new Set([...jobSinks(config), ...loadSinks(config)]),
]
