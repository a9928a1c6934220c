import type { EncryptedHandler } from '../../channel/request-server.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import { GENERATION_3 } from '../../wire/envelope.ts'
import { makeMissedJobsReply, readMissedJobsRequest } from '../../wire/missed-jobs.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { WorkerContext } from '../worker/context.ts'

/**
 * `_missed_jobs`: a minion that has connected asks for the jobs that were published while it was not, and that it may still take. It
 * gets none from before its key was accepted, when another host may have had its id.
 */
export function missedJobsHandler({
  clock,
  jobs,
  keys,
  publications,
  senders,
  syndics,
  log,
}: WorkerContext): EncryptedHandler {
  return async (load, { id, verified, version }) => {
    if (!id || !verified || version < GENERATION_3) return {}
    const acceptedSince = keys.acceptedSince(id) ?? 0
    const since = acceptedSince > clock.now() ? 0 : acceptedSince // one in the future is of a wrong clock
    const isSyndic = syndics.is(id)
    const isMissed = (jid: string, at: number) =>
      at >= since &&
      !jobs.hasReturn(jid, id) &&
      (isSyndic || (senders.wasSentTo(jid, id) && !jobs.deliveries.isWithheld(jid, id)))
    const waiting = {
      here: jobs.deliveries.waitingFor(id),
      elsewhere: publications.elsewhere.waitingFor(id).filter(({ at }) => at >= since),
    }
    const { jobs: missed, next } = publications.page(isMissed, waiting, readMissedJobsRequest(load))
    for (const { job } of missed)
      log.debug('Giving {id} the job {jid}, which it has not returned', { id, jid: job.jid })
    return makeMissedJobsReply({
      jobs: missed.map((one) => ({ ...one, job: forMinion(jobs, one.job, id) })),
      next,
    })
  }
}

/**
 * Address a job that waits for minions to this minion, since the target was evaluated when the job was published. A minion that
 * the target may not match evaluates it itself.
 */
function forMinion(jobs: JobCache, job: JobLoad, id: string): JobLoad {
  const isDecided = job.deliver_until !== undefined && !jobs.record(job.jid)?.unknown?.includes(id)
  return isDecided ? { ...job, tgt: [id], tgt_type: 'list' } : job
}
