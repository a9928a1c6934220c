import type { EncryptedHandler } from '../../channel/request-server.ts'
import { GENERATION_3 } from '../../wire/envelope.ts'
import { makeMissedJobsReply, readMissedJobsRequest } from '../../wire/missed-jobs.ts'
import type { WorkerContext } from '../worker/context.ts'

/** `_missed_jobs`: a minion that has connected asks for the jobs that were published while it was not, and that it may still take. */
export function missedJobsHandler({ jobs, publications, senders, log }: WorkerContext): EncryptedHandler {
  return async (load, { id, verified, version }) => {
    if (!id || !verified || version < GENERATION_3) return {}
    const isMissed = (jid: string) =>
      !jobs.hasReturn(jid, id) && senders.wasSentTo(jid, id) && jobs.deliveries.state(jid, id) === undefined
    const missed = publications.page(isMissed, readMissedJobsRequest(load))
    for (const { job } of missed.jobs)
      log.debug('Giving {id} the job {jid}, which it has not returned', { id, jid: job.jid })
    return makeMissedJobsReply(missed)
  }
}
