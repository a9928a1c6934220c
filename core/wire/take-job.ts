import { isRecord } from '../base/record.ts'
import { asText } from './bytes.ts'

/** What becomes of a job with `deliver_within` on a minion: the minion has taken it, or does not get it any more. */
const DELIVERY_STATES = ['delivered', 'expired', 'cancelled'] as const

export type DeliveryState = (typeof DELIVERY_STATES)[number]
export type NotDelivered = Exclude<DeliveryState, 'delivered'>

/**
 * The answers of a master to a minion that is about to begin such a job. It runs the job after `delivered` only: otherwise the job
 * was cancelled, or the time is over, or the minion has returned it, or the job was not sent to it.
 */
const TAKE_ANSWERS = [...DELIVERY_STATES, 'returned', 'unknown'] as const

export type TakeAnswer = (typeof TAKE_ANSWERS)[number]

/** Read a state; undefined for anything else. */
export const readDeliveryState = (value: unknown): DeliveryState | undefined =>
  DELIVERY_STATES.find((state) => state === value)

const MAX_MASTER_ID = 255

/**
 * Make a minion's request to take a job, an addition of salt-ts. The job is on its disk already. `master` is the master of a cluster
 * that published it.
 */
export const makeTakeRequest = (id: string, jid: string, master?: string): Record<string, unknown> => ({
  cmd: '_take_job',
  id,
  jid,
  ...(master !== undefined && { master_id: master }),
})

/** Read the jid of a job that a minion wants to take, and the master that published it; undefined if they are malformed. */
export const readTakeRequest = (load: Readonly<Record<string, unknown>>) => ({
  jid: asText(load.jid, 64),
  master: asText(load.master_id, MAX_MASTER_ID),
})

export const makeTakeAnswer = (answer: TakeAnswer): Record<string, unknown> => ({ state: answer })

/** Read the answer; undefined if it is malformed. */
export function readTakeAnswer(reply: unknown): TakeAnswer | undefined {
  const { state } = isRecord(reply) ? reply : {}
  return TAKE_ANSWERS.find((answer) => answer === state)
}
