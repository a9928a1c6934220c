import type { JobCache } from './job-cache.ts'
import { type JobStatus, nextStatus, PUBLISHED_STATUS } from './job-states.ts'

/** Return the status of a job on a minion that has not returned, judged by the job cache alone. */
export function storedStatus(
  jobs: Pick<JobCache, 'deliveries' | 'hasStarted'>,
  jid: string,
  id: string,
): JobStatus {
  if (jobs.hasStarted(jid, id)) return nextStatus(PUBLISHED_STATUS, { type: 'started' })
  const state = jobs.deliveries.state(jid, id)
  if (state) return nextStatus(PUBLISHED_STATUS, { type: state })
  const untilMs = jobs.deliveries.untilFor(jid, id)
  return untilMs === undefined
    ? PUBLISHED_STATUS
    : nextStatus(PUBLISHED_STATUS, { type: 'waiting', untilMs, jid })
}
