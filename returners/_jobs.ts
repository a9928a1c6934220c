/** What stores of jobs have in common. */
import type { LoadRecord } from 'salt-ts'

/** Seconds a job is kept, 0 for ever (`keep_jobs_seconds`, or `keep_jobs` in hours). */
export function keepSeconds(opts: Readonly<Record<string, unknown>>): number {
  const { keep_jobs_seconds, keep_jobs } = opts
  if (typeof keep_jobs_seconds === 'number') return keep_jobs_seconds
  return typeof keep_jobs === 'number' ? keep_jobs * 3600 : 86_400
}

/** The first `count` of jobs that come newest first, without those of `saltutil.find_job` if `filterFindJob`. */
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

/** A job as Salt writes it, its load with `Minions`. */
export const loadWithMinions = ({ load, minions }: LoadRecord) => ({ ...load, Minions: minions })

/** The job again. Jobs that Python wrote may have no `Minions`. */
export function jobOf(
  jid: string,
  stored: Readonly<Record<string, unknown>>,
  more: readonly string[] = [],
): LoadRecord {
  const { Minions, ...load } = stored
  const minions = Array.isArray(Minions) ? Minions.map(String) : []
  return { jid, load, minions: [...new Set([...minions, ...more])] }
}

/** Values in pages of at most `size`. */
export function* pages<T>(values: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < values.length; at += size) yield values.slice(at, at + size)
}
