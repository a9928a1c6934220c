/** What the job cache of a cluster's master has on disk, read as another process. */

import { jobCacheDirectory } from '../../core/config/cachedir.ts'
import type { MasterConfig } from '../../core/config/index.ts'
import { JobCache } from '../../core/jobs/job-cache.ts'
import type { Cluster, Daemon } from './daemons.ts'
import { until } from './until.ts'

export function readJobCache<T>(
  { config }: { readonly config: MasterConfig },
  read: (cache: JobCache) => T,
): T {
  const cache = JobCache.open(jobCacheDirectory(config))
  try {
    return read(cache)
  } finally {
    void cache.close()
  }
}

export const storedReturn = (
  cluster: Cluster,
  jid: string,
  id = 'web1',
): Record<string, unknown> | undefined => readJobCache(cluster, (cache) => cache.return(jid, id))

/** Resolves with the return once it is stored; the output of the minion is told if it does not come. */
export const awaitedReturn = (
  cluster: Cluster,
  minion: Daemon,
  jid: string,
): Promise<Record<string, unknown>> =>
  until(
    () => `the return of ${jid}; the minion says:\n${minion.output.slice(-2000)}`,
    () => storedReturn(cluster, jid),
  )
