import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { type Backoff, backoff } from '../../base/backoff.ts'
import { messageOf } from '../../base/errors.ts'
import { preferredMaster } from '../../channel/request-channel.ts'
import type { JobLoad } from '../../wire/publication.ts'
import { makeTakeRequest, readTakeAnswer, type TakeAnswer } from '../../wire/take-job.ts'
import type { MasterConnection } from '../link/master-connection.ts'

const RETRY_MIN_MS = 500
const RETRY_MAX_MS = 30_000

interface TakeSettings {
  readonly id: string
  readonly connection: Pick<MasterConnection, 'request' | 'address'>
  readonly log: Log
  /** Aborts when the minion closes. */
  readonly closing: AbortSignal
  /** Milliseconds to wait before each repetition. */
  readonly waits?: Pick<Backoff, 'next'>
}

/**
 * Ask the master that published a job with `deliver_within`, or another master of its cluster that has the job, whether the job
 * may begin. Repeats the question until it is answered. Resolves with undefined if the minion closes before that.
 */
export async function takeJob(
  { jid, master_id }: Pick<JobLoad, 'jid' | 'master_id'>,
  settings: TakeSettings,
): Promise<TakeAnswer | undefined> {
  const { id, connection, log, closing } = settings
  const waits = settings.waits ?? backoff({ minMs: RETRY_MIN_MS, maxMs: RETRY_MAX_MS })
  while (!closing.aborted) {
    try {
      const request = makeTakeRequest(id, jid, master_id)
      const reply = await connection.request(request, preferredMaster(master_id))
      const answer = readTakeAnswer(reply)
      if (answer) return answer
      log.warn(`The master at ${connection.address} gave no usable answer about job ${jid}. Asking again.`)
    } catch (error) {
      log.info(`Job ${jid} waits for an answer of the master: ${messageOf(error)}`)
    }
    await delay(waits.next(), undefined, { signal: closing }).catch(() => {})
  }
  return undefined
}
