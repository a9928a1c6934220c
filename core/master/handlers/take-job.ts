import { messageOf } from '../../base/errors.ts'
import { isJid } from '../../base/jid.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { masterNameOf } from '../../config/index.ts'
import { makeTakeAnswer, readTakeRequest } from '../../wire/take-job.ts'
import type { WorkerContext } from '../worker/context.ts'
import { announceDecision } from '../worker/delivery-keeper.ts'

/** `_take_job`: a minion has a job with `deliver_within` on its disk, and asks whether it may begin it. */
export function takeJobHandler(context: WorkerContext): EncryptedHandler {
  const { config, jobs, publications, clock, log } = context
  const isOfOther = (master: string | undefined) =>
    config.cluster_id !== undefined && master !== undefined && master !== masterNameOf(config)

  /** Answer in place of the master that published the job. If the job is not known here, the answer has no state. */
  async function answerForOther(jid: string, id: string): Promise<Record<string, unknown>> {
    const { has, isNew } = await publications.elsewhere.take(jid, id, clock.now())
    if (isNew) void announceDecision(context, { jid, id, state: 'delivered' })
    return has ? makeTakeAnswer('delivered') : {}
  }

  return async (load, { id, verified }) => {
    const { jid, master } = readTakeRequest(load)
    if (!id || !verified || !isJid(jid)) return {}
    if (isOfOther(master)) return answerForOther(jid, id)
    const { answer, isNew, isLast } = await jobs.deliveries.take(jid, id, clock.now())
    if (answer === 'unknown' && wasSent(context, jid, id)) return makeTakeAnswer('delivered')
    if (isNew) void announceDecision(context, { jid, id, state: 'delivered' })
    else if (answer !== 'delivered') log.info(`${id} may not run job ${jid}. State: ${answer}.`)
    if (isLast)
      await publications
        .remove(jid)
        .catch((error: unknown) => log.debug(`Job ${jid} is kept a minute longer: ${messageOf(error)}`))
    return makeTakeAnswer(answer)
  }
}

/** Whether a job was published to a minion that was taken for one of Python Salt. Such minions get a job at once or never. */
function wasSent({ jobs, senders, clock }: WorkerContext, jid: string, id: string): boolean {
  const { deliver_until } = jobs.load(jid)?.load ?? {}
  return senders.wasSentTo(jid, id) && Number(deliver_until) * 1000 > clock.now()
}
