import type { EncryptedHandler } from '../../channel/request-server.ts'
import { makeTakeAnswer, readTakeRequest } from '../../wire/take-job.ts'
import type { WorkerContext } from '../worker/context.ts'
import { announceDelivery } from '../worker/deliveries.ts'

/** `_take_job`: a minion has a job with `deliver_within` on its disk, and asks whether it may begin it. */
export function takeJobHandler({ jobs, senders, clock, fire, meter, log }: WorkerContext): EncryptedHandler {
  return async (load, { id, verified }) => {
    const jid = readTakeRequest(load)
    if (!id || !verified || jid === undefined) return {}
    if (!senders.wasSentTo(jid, id)) return makeTakeAnswer('unknown')
    const { answer, isNew } = await jobs.deliveries.take(jid, id, clock.now())
    if (isNew) void announceDelivery({ fire, meter }, { jid, id, state: 'delivered' })
    if (answer !== 'delivered') log.info(`${id} may not run job ${jid}. State: ${answer}.`)
    return makeTakeAnswer(answer)
  }
}
