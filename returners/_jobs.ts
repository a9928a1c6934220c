/** Helpers for returners that store jobs. */
import type { LoadRecord } from 'salt-ts'

/** Return how many seconds a job is kept, 0 means forever (`keep_jobs_seconds`, or `keep_jobs` in hours). */
export function keepSeconds(opts: Readonly<Record<string, unknown>>): number {
  const { keep_jobs_seconds, keep_jobs } = opts
  if (typeof keep_jobs_seconds === 'number') return keep_jobs_seconds
  return typeof keep_jobs === 'number' ? keep_jobs * 3600 : 86_400
}

/** Return the first `count` of the jobs, which are sorted newest first; with `filterFindJob`, without those of `saltutil.find_job`. */
export async function firstJobs(
  jobs: AsyncIterable<LoadRecord>,
  count: number,
  filterFindJob: boolean,
): Promise<LoadRecord[]> {
  const found: LoadRecord[] = []
  if (count < 1) return found
  for await (const job of jobs) {
    if (filterFindJob && job.load.fun === 'saltutil.find_job') continue
    if (found.push(job) >= count) break
  }
  return found
}

/** Return a job's load in Salt's form, with `Minions`. */
export const loadWithMinions = ({ load, minions }: LoadRecord) => ({ ...load, Minions: minions })

/** Restore a job from Salt's form. Jobs written by Python may have no `Minions`. */
export function jobOf(
  jid: string,
  stored: Readonly<Record<string, unknown>>,
  more: readonly string[] = [],
): LoadRecord {
  const { Minions, ...load } = stored
  const minions = Array.isArray(Minions) ? Minions.map(String) : []
  return { jid, load, minions: [...new Set([...minions, ...more])] }
}

/** Split values into pages of at most `size`. */
export function* pages<T>(values: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < values.length; at += size) yield values.slice(at, at + size)
}
