import type { MasterConfig } from '../config/index.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import { jobCacheDirectory } from '../jobs/paths.ts'

/** The end of a runner, as its event tells it. */
export interface RunReturn {
  readonly jid: string
  readonly fun: string
  readonly user: string
  readonly fun_args: readonly unknown[]
  readonly return: unknown
  readonly success: boolean
}

/**
 * Keep what a runner returned where `jobs.lookup_jid` finds it: as a job of the master, whose return is what its event
 * tells (Salt's form). `jobs`: of this process, if it has the store open.
 */
export async function storeRun(config: MasterConfig, told: RunReturn, jobs?: JobCache): Promise<void> {
  const { jid, fun, user, fun_args, success } = told
  const { id } = config
  const load = { jid, fun, user, arg: fun_args, tgt: id, tgt_type: 'glob', ret: '' }
  const cache = jobs ?? (await openJobs(config))
  try {
    await cache.create(jid, load, [id])
    await cache.saveReturn(jid, id, { id, jid, fun, return: told, success, retcode: success ? 0 : 1 })
    await cache.announced(jid, id) // its own event has been fired
  } finally {
    if (!jobs) await cache.close()
  }
}

async function openJobs(config: MasterConfig): Promise<JobCache> {
  const { JobCache } = await import('../jobs/job-cache.ts')
  return JobCache.open(jobCacheDirectory(config))
}
