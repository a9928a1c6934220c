/** What runners and wheel functions return, in the job cache: as jobs of the master, whose return is what their event tells (Salt's form). */
import type { MasterConfig } from '../config/index.ts'
import type { JobCache } from './job-cache.ts'
import { openJobCache } from './open-job-cache.ts'

/** Of one run, what the event of its start tells. */
export interface RunStart {
  readonly jid: string
  readonly fun: string
  readonly user: string
  /** Whose it is, if that was told. */
  readonly owner?: string
  /** Masked where they are secret. */
  readonly fun_args: readonly unknown[]
}

/** The end of a run, as its event tells it. */
export interface RunReturn extends Omit<RunStart, 'owner'> {
  readonly return: unknown
  readonly success: boolean
}

/** From now on it is a job that has not returned. `jobs`: of this process, if it has the store open. */
export const storeStart = (config: MasterConfig, start: RunStart, jobs?: JobCache): Promise<void> =>
  inCache(config, jobs, (cache) => create(cache, config, start))

/** Keep what it returned where `jobs.lookup_jid` finds it. Of several returns the first stays. */
export const storeRun = (config: MasterConfig, told: RunReturn, jobs?: JobCache): Promise<void> =>
  inCache(config, jobs, async (cache) => {
    const { jid, fun, success } = told
    const { id } = config
    await create(cache, config, told)
    await cache.saveReturn(jid, id, { id, jid, fun, return: told, success, retcode: success ? 0 : 1 })
    await cache.unannounced.remove(jid, id) // it has an event of its own
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
