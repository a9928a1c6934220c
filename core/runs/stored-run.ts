/**
 * Stores runs of runners and wheel functions in the job cache, as jobs of the master whose return is the data of their event
 * (Salt's form).
 */
import type { MasterConfig } from '../config/index.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import { openJobCache } from '../jobs/open-job-cache.ts'

/** Data of the start event of a run. */
export interface RunStart {
  readonly jid: string
  readonly fun: string
  readonly user: string
  /** The owner, if known. */
  readonly owner?: string
  /** The arguments with secret ones masked. */
  readonly fun_args: readonly unknown[]
}

/** Data of the return event of a run. */
export interface RunReturn extends Omit<RunStart, 'owner'> {
  readonly return: unknown
  readonly success: boolean
}

/** Store a run as a job that has not returned. `jobs` is the job cache, if this process has it open. */
export const storeStart = (config: MasterConfig, start: RunStart, jobs?: JobCache): Promise<void> =>
  inCache(config, jobs, (cache) => create(cache, config, start))

/** Store the result of a run for `jobs.lookup_jid`. The first result is kept. */
export const storeRun = (config: MasterConfig, ret: RunReturn, jobs?: JobCache): Promise<void> =>
  inCache(config, jobs, async (cache) => {
    const { jid, fun, success } = ret
    const { id } = config
    await create(cache, config, ret)
    await cache.saveReturn(jid, id, { id, jid, fun, return: ret, success, retcode: success ? 0 : 1 })
    await cache.unannounced.remove(jid, id) // runs have their own return event
  })

async function create(cache: JobCache, { id }: MasterConfig, start: RunStart): Promise<void> {
  const { jid, fun, user, owner, fun_args: arg } = start
  const who = { user, ...(owner !== undefined && { owner }) }
  await cache.create(jid, { jid, fun, ...who, arg, tgt: id, tgt_type: 'glob', ret: '' }, [id])
}

async function inCache(
  config: MasterConfig,
  jobs: JobCache | undefined,
  work: (cache: JobCache) => Promise<void>,
): Promise<void> {
  const cache = jobs ?? openJobCache(config)
  try {
    await work(cache)
  } finally {
    if (!jobs) await cache.close()
  }
}
