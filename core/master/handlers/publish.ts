import { messageOf, SaltError } from '../../base/errors.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import type { BatchOrder } from '../../jobs/batches.ts'
import { isJid } from '../../jobs/jid.ts'
import { refusals } from '../../wire/envelope.ts'
import {
  CALL_REFUSED,
  type PublishLoad,
  passedOn,
  publishReplies,
  readPublish,
} from '../../wire/publish-request.ts'
import type { Caller } from '../access.ts'
import { readBatchOrder } from '../batch-order.ts'
import { checkJob, type Refusal, refusedSentence } from '../check.ts'
import { offersOf, shownTo } from '../foresight.ts'
import { type Issue, publishIssue, storeIssue } from '../issue.ts'
import { askPythonMinions } from '../python-minions.ts'
import { type Resolved, reasonForNobody, resolve } from '../resolve.ts'
import type { WorkerRoom } from '../room.ts'

/** `publish`: authenticate, resolve, authorise, store, announce, publish (wire protocol §8.1). */
export function publishHandler(room: WorkerRoom): ClearHandler {
  return async (load) => {
    const request = readPublish(load)
    if (!request) {
      room.log.debug('Refused to publish: tgt, fun or user are missing, or of the wrong kind')
      return refusals.exception
    }
    const caller = await authenticate(room, request)
    if (!caller) {
      const bare = { ...request, arg: [] } // which are secret is not worth finding out for a stranger
      return refuse(room, bare, 'AuthenticationError', AUTHENTICATION_FAILED)
    }
    const expected = await resolve(room, request)
    const offers = offersOf(room, expected.minions)
    const shown = { ...request, arg: await shownTo(room, request, offers) }
    if (!room.access.authorized(caller, { fun: request.fun, minions: expected.minions })) {
      return refuse(room, shown, 'AuthorizationError', 'Authorization error occurred.')
    }
    if (!expected.minions.length) return nobody(room, request, caller, expected)
    const checked = request.check ? await checkJob(room, request, offers) : undefined
    if (checked?.everywhere) return refuseCall(room, shown, checked.refusals)
    if (checked) void askPythonMinions(room, expected.minions).catch(reportTo(room))
    return publish(room, request, shown, expected, checked?.refusals)
  }
}

/** Tokens and external authentication come before the key (wire protocol §8.1), and nothing here can check them yet. */
export async function authenticate(
  room: WorkerRoom,
  { user, key, kwargs }: PublishLoad,
): Promise<Caller | undefined> {
  if ('token' in kwargs || 'eauth' in kwargs) return undefined
  return room.access.authenticate(user, key)
}

export const AUTHENTICATION_FAILED = 'Authentication error occurred.'

const reportTo = (room: WorkerRoom) => (error: unknown) =>
  room.log.debug(`Python minions were not asked what they offer: ${messageOf(error)}`)

/** Salt's answer, and why. */
async function nobody(room: WorkerRoom, request: PublishLoad, caller: Caller, { invalid }: Resolved) {
  const why = invalid === undefined ? { reason: await reasonForNobody(room, request, caller) } : { invalid }
  return publishReplies.noMatch(request.tgt, why)
}

/** In waves, if that is asked for: then what is stored now stands for all of them. */
async function publish(
  room: WorkerRoom,
  request: PublishLoad,
  shown: PublishLoad,
  { minions, missing, unknown }: Resolved,
  refusals?: readonly Refusal[],
): Promise<unknown> {
  const { fun, tgt, tgtType, user, ret, words } = request
  const extras = passedOn(request.kwargs)
  const issue = { fun, tgt, tgtType, user, ret, words, extras, minions, missing, unknown }
  const job: Issue = { ...issue, arg: request.arg, shownArg: shown.arg }
  const order = readBatchOrder(request, job, room.config)
  if (typeof order === 'string') return refuse(room, shown, 'SaltInvocationError', order)
  const stored = await store(room, job, request.jid, order)
  if ('refused' in stored) return refuse(room, shown, stored.refused, stored.message)
  if (order) room.log.info(`User ${user} started a batch of ${String(fun)} with jid ${stored.jid}`)
  else await publishIssue(room, stored.jid, job)
  return publishReplies.published(stored.jid, { minions, missing, unknown, refusals })
}

type Stored = { readonly jid: string } | { readonly refused: string; readonly message: string }

/** A job that cannot be stored is not published. */
async function store(
  room: WorkerRoom,
  job: Issue,
  wanted: string,
  order: BatchOrder | undefined,
): Promise<Stored> {
  try {
    const jid = await storeIssue(room, job, wanted)
    if (!jid)
      return { refused: 'SaltInvocationError', message: `The job id ${wanted} is taken, or is not a job id.` }
    if (order) await room.jobs.batches.add(jid, order, job.minions)
    return { jid }
  } catch (error) {
    if (!SaltError.is(error)) throw error
    const message = `The job was not published, because it could not be stored: ${error.message}`
    return { refused: 'SaltMasterError', message }
  }
}

/** Only who wanted it is told why: the reasons quote arguments. These may be secret to the function that was meant. */
function refuseCall(room: WorkerRoom, shown: PublishLoad, refusals: readonly Refusal[]): unknown {
  refuse(room, { ...shown, arg: [] }, CALL_REFUSED, 'No minion would run it.')
  return publishReplies.failed(CALL_REFUSED, refusedSentence(refusals))
}

/** Tell the client and the event bus; never with the credentials that came along. */
function refuse(room: WorkerRoom, request: PublishLoad, name: string, message: string): unknown {
  const { tgt, tgtType, fun, arg, user, ret } = request
  const jid = isJid(request.jid) ? request.jid : ''
  room.log.warn(`Refused to publish ${String(fun)} for user ${user}: ${message}`)
  const load = { cmd: 'publish', fun, arg, tgt, tgt_type: tgtType, ret, jid, user }
  room.fire(tags.jobError(jid), { ...load, error: { name, message } })
  return publishReplies.failed(name, message)
}
