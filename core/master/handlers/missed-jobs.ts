import type { EncryptedHandler } from '../../channel/request-server.ts'
import { makeMissedJobsReply, readMissedJobsRequest } from '../../wire/missed-jobs.ts'
import type { WorkerContext } from '../worker/context.ts'

/** Number of jobs whose minions are remembered: when a master comes back, all of them ask for the same jobs. */
const MAX_REMEMBERED = 100

/** `_missed_jobs`: a minion that has connected asks for the jobs that were published while it was not. */
export function missedJobsHandler({ jobs, publications, log }: WorkerContext): EncryptedHandler {
  const members = new Map<string, ReadonlySet<string>>()
  const membersOf = (jid: string): ReadonlySet<string> => {
    const known = members.get(jid)
    if (known) return known
    const found = new Set(jobs.record(jid)?.minions)
    if (members.size >= MAX_REMEMBERED) members.clear()
    members.set(jid, found)
    return found
  }
  return async (load, { id, verified }) => {
    if (!id || !verified) return {}
    const isMissed = (jid: string) => membersOf(jid).has(id) && !jobs.return(jid, id)
    const missed = publications.page(isMissed, readMissedJobsRequest(load))
    for (const { job } of missed.jobs)
      log.debug('Giving {id} the job {jid}, which it has not returned', { id, jid: job.jid })
    return makeMissedJobsReply(missed)
  }
}
