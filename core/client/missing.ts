import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { MasterConfig } from '../config/index.ts'
import { jobCacheDirectory } from '../jobs/paths.ts'
import type { MinionResult } from './contract.ts'
import { resultOf } from './return-stream.ts'

/** Of a minion that did not return and is perhaps not meant. */
export const UNKNOWN =
  'It is not known whether the target means this minion: the master has none of its grains or pillar, and it did not return'

/** Returns that are in the job cache though their event was not seen; none for users who may not read it. */
export async function* storedResults(
  config: MasterConfig,
  jid: string,
  ids: readonly string[],
): AsyncGenerator<MinionResult> {
  if (!ids.length || !config.job_cache) return
  const { JobCache } = await import('../jobs/job-cache.ts') // off the way of jobs that all return
  const directory = jobCacheDirectory(config)
  if (!(await isWritable(JobCache.path(directory)))) return
  const cache = JobCache.open(directory)
  try {
    for (const id of ids) {
      const ret = cache.return(jid, id)
      if (ret) yield resultOf(id, { ...ret, jid })
    }
  } finally {
    await cache.close()
  }
}

const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )
