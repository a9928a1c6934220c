import { type Caller, laterReply, ownerOf, proofIn, type Verdict } from '../../auth/index.ts'
import { tags } from '../../events/index.ts'
import { isJid } from '../../jobs/jid.ts'
import { CALL_REFUSED, type PublishLoad, publishReplies, shownOptions } from '../../wire/publish-request.ts'
import type { ClaimedVia } from '../../wire/via.ts'
import { type Refusal, refusedSentence } from '../check.ts'
import { noteDecision } from '../decisions.ts'
import type { WorkerRoom } from '../room.ts'

type Denied = Extract<Verdict, { allowed: false }>

/** Who wants it; or the answer for who did not prove that (wire protocol §8.1). */
export async function identify(
  room: WorkerRoom,
  act: 'publish' | 'plan',
  request: PublishLoad,
  via: ClaimedVia | undefined,
): Promise<{ readonly caller: Caller } | { readonly refusal: unknown }> {
  const proof = proofIn(request.kwargs, request)
  const who = await room.auth.identity.of(proof, via)
  if ('caller' in who) return who
  const { refused: reason, claimed: user, later } = who
  await noteDecision(room, {
    act,
    verdict: 'refused',
    user,
    claimed: true,
    by: proof.by,
    fun: request.fun,
    tgt: request.tgt,
    reason,
    via,
  })
  const more = later ? laterReply(later) : {}
  const bare = { ...request, user, arg: [] } // which are secret is not worth finding out for a stranger
  if (act === 'publish') tellBus(room, bare, 'AuthenticationError', AUTHENTICATION_FAILED)
  return { refusal: publishReplies.failed('AuthenticationError', AUTHENTICATION_FAILED, more) }
}

const AUTHENTICATION_FAILED = 'Authentication error occurred.'

/** Who is known, but may not do it. */
export async function deny(
  room: WorkerRoom,
  caller: Caller,
  shown: PublishLoad,
  { reason, rule }: Denied,
  via: ClaimedVia | undefined,
): Promise<unknown> {
  const { name: user, by, eauth } = caller
  const { fun, arg: args, tgt } = shown
  await noteDecision(room, {
    act: 'publish',
    verdict: 'refused',
    ...{ user, by, eauth, fun, args, tgt, options: shownOptions(shown), rule, reason, via },
  })
  const [name, message] = ['AuthorizationError', 'Authorization error occurred.']
  tellBus(room, shown, name, message, ownerOf(caller))
  return publishReplies.failed(name, message, { reason, ...(rule !== undefined && { rule }), denied: true })
}

/** Only who wanted it is told why: the reasons quote arguments. These may be secret to the function that was meant. */
export function refuseCall(
  room: WorkerRoom,
  shown: PublishLoad,
  refusals: readonly Refusal[],
  owner: string,
): unknown {
  refuse(room, { ...shown, arg: [] }, CALL_REFUSED, 'No minion would run it.', owner)
  return publishReplies.failed(CALL_REFUSED, refusedSentence(refusals))
}

/** What is allowed, but cannot be done. */
export function refuse(
  room: WorkerRoom,
  request: PublishLoad,
  name: string,
  message: string,
  owner: string,
): unknown {
  room.log.warn(`Refused to publish ${String(request.fun)} for user ${request.user}: ${message}`)
  tellBus(room, request, name, message, owner)
  return publishReplies.failed(name, message)
}

/** Never with the credentials that came along. `owner`: of who has proved who they are. */
function tellBus(
  room: WorkerRoom,
  request: PublishLoad,
  name: string,
  message: string,
  owner?: string,
): void {
  const { tgt, tgtType, fun, arg, user, ret } = request
  const jid = isJid(request.jid) ? request.jid : ''
  const load = { cmd: 'publish', fun, arg, tgt, tgt_type: tgtType, ret, jid, user }
  room.fire(tags.jobError(jid), { ...load, ...(owner !== undefined && { owner }), error: { name, message } })
}
