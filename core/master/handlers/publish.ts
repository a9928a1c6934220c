import { messageOf, SaltError } from '../../base/errors.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import { isJid } from '../../jobs/jid.ts'
import { refusals } from '../../wire/envelope.ts'
import { makeJobLoad } from '../../wire/publication.ts'
import {
  CALL_REFUSED,
  type PublishLoad,
  passedOn,
  publishReplies,
  readPublish,
} from '../../wire/publish-request.ts'
import type { Caller } from '../access.ts'
import { checkJob, type Refusal, refusedSentence } from '../check.ts'
import { offersOf, shownTo } from '../foresight.ts'
import { type NewJob, storeJob } from '../jids.ts'
import { askPythonMinions } from '../python-minions.ts'
import { showJob } from '../python-view.ts'
import { type Resolved, reasonForNobody, resolve } from '../resolve.ts'
import type { WorkerRoom } from '../room.ts'

/** Target types whose minions are known by id, so that a publication can be addressed to each (wire protocol §9). */
const BY_ID = new Set(['glob', 'pcre', 'list'])

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
      return refuse(room, bare, 'AuthenticationError', whyUnknown(request))
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

/** Salt's sentence; where something is asked for that nobody can have here, that it is not there. */
export function whyUnknown({ kwargs }: PublishLoad): string {
  if ('token' in kwargs) return `${FAILED} This master has not made that token.`
  return 'eauth' in kwargs ? NO_BACKEND : FAILED
}

const FAILED = 'Authentication error occurred.'

export const NO_BACKEND = `${FAILED} No such eauth backend is configured on this master.`

const reportTo = (room: WorkerRoom) => (error: unknown) =>
  room.log.debug(`Python minions were not asked what they offer: ${messageOf(error)}`)

/** Salt's answer, and why. */
async function nobody(room: WorkerRoom, request: PublishLoad, caller: Caller, { invalid }: Resolved) {
  const why = invalid === undefined ? { reason: await reasonForNobody(room, request, caller) } : { invalid }
  return publishReplies.noMatch(request.tgt, why)
}

/** What is stored and announced is the job as it may be shown; only its minions get its secrets. */
async function publish(
  room: WorkerRoom,
  request: PublishLoad,
  shown: PublishLoad,
  { minions, missing, unknown }: Resolved,
  refusals?: readonly Refusal[],
): Promise<unknown> {
  const { fun, arg, tgt, tgtType, user, ret } = shown
  const about = { fun, arg, tgt, ret, tgt_type: tgtType, user, ...passedOn(request.kwargs) }
  const stored = await store(room, { load: { cmd: 'publish', ...about }, minions, wanted: request.jid })
  if ('refused' in stored) return refuse(room, shown, stored.refused, stored.message)
  const { jid } = stored
  room.fire(tags.jobPublished(jid), { minions })
  room.fire(tags.jobNew(jid), {
    ...{ jid, tgt_type: tgtType, tgt, user, fun, arg, minions, missing },
    ...(unknown.length > 0 && { unknown }),
  })
  room.log.info(`User ${user} Published command ${String(fun)} with jid ${jid}`)
  await room.publish(
    makeJobLoad({ ...about, arg: request.arg, jid }),
    BY_ID.has(tgtType) ? [...minions, ...missing] : undefined,
    request.words,
  )
  return publishReplies.published(jid, { minions, missing, unknown, refusals })
}

type Stored = { readonly jid: string } | { readonly refused: string; readonly message: string }

/** A job that cannot be stored is not published. */
async function store(room: WorkerRoom, job: NewJob): Promise<Stored> {
  try {
    const jid = await storeJob(room, job)
    if (jid) await showJob(room, jid, job)
    if (jid) return { jid }
    return {
      refused: 'SaltInvocationError',
      message: `The job id ${job.wanted} is taken, or is not a job id.`,
    }
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
