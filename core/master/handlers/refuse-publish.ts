import { type AccessDecision, type Caller, ownerOf, proofIn, retryLaterReply } from '../../auth/index.ts'
import { isJid } from '../../base/jid.ts'
import { tags } from '../../events/index.ts'
import {
  CALL_REFUSED,
  type PublishLoad,
  publishReplies,
  type Refusal,
  shownOptions,
} from '../../wire/publish-request.ts'
import type { ClaimedVia } from '../../wire/via.ts'
import { auditDecision } from '../preflight/audited-decisions.ts'
import { refusalMessage } from '../preflight/check-job.ts'
import type { WorkerContext } from '../worker/context.ts'

type Denied = Extract<AccessDecision, { allowed: false }>

/** Return the sender of the request, or the answer to a request that is not authenticated (wire protocol §8.1). */
export async function authenticate(
  context: WorkerContext,
  act: 'publish' | 'plan',
  request: PublishLoad,
  via: ClaimedVia | undefined,
): Promise<{ readonly caller: Caller } | { readonly refusal: unknown }> {
  const proof = proofIn(request.kwargs, request)
  const who = await context.auth.identity.of(proof, via)
  if ('caller' in who) return who
  const { refused: reason, claimed: user, later } = who
  const isRecorded = await auditDecision(context, {
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
  const more = later ? retryLaterReply(later) : {}
  const bare = { ...request, user, arg: [] } // no arguments: some may be secret
  if (act === 'publish' && isRecorded)
    fireJobError(context, bare, 'AuthenticationError', AUTHENTICATION_FAILED)
  return { refusal: publishReplies.failed('AuthenticationError', AUTHENTICATION_FAILED, more) }
}

const AUTHENTICATION_FAILED = 'Authentication error occurred.'

/** Audit, announce and answer the refusal of an authenticated caller who may not publish the job. */
export async function refuseUnauthorized(
  context: WorkerContext,
  caller: Caller,
  shown: PublishLoad,
  { reason, rule }: Denied,
  via: ClaimedVia | undefined,
): Promise<unknown> {
  const { name: user, by, eauth } = caller
  const { fun, arg: args, tgt } = shown
  await auditDecision(context, {
    act: 'publish',
    verdict: 'refused',
    user,
    by,
    eauth,
    fun,
    args,
    tgt,
    options: shownOptions(shown),
    rule,
    reason,
    via,
  })
  const [name, message] = ['AuthorizationError', 'Authorization error occurred.']
  fireJobError(context, shown, name, message, ownerOf(caller))
  return publishReplies.failed(name, message, { reason, ...(rule !== undefined && { rule }), denied: true })
}

/** Refuse a job that every minion would refuse. The reasons go to the caller only, since they quote arguments, which may be secret. */
export function refuseCall(
  context: WorkerContext,
  shown: PublishLoad,
  refusals: readonly Refusal[],
  owner: string,
): unknown {
  refusePublish(context, { ...shown, arg: [] }, CALL_REFUSED, 'No minion would run it.', owner)
  return publishReplies.failed(CALL_REFUSED, refusalMessage(refusals))
}

/** Log, announce and answer the refusal of a job that is allowed, but cannot be published as requested. */
export function refusePublish(
  context: WorkerContext,
  request: PublishLoad,
  name: string,
  message: string,
  owner: string,
): unknown {
  context.log.warn(`Refused to publish ${String(request.fun)} for user ${request.user}: ${message}`)
  fireJobError(context, request, name, message, owner)
  return publishReplies.failed(name, message)
}

/** Fire the error event of a refused job, without the caller's credentials. `owner` is set once the caller is authenticated. */
function fireJobError(
  context: WorkerContext,
  request: PublishLoad,
  name: string,
  message: string,
  owner?: string,
): void {
  const { tgt, tgtType, fun, arg, user, ret } = request
  const jid = isJid(request.jid) ? request.jid : ''
  const load = { cmd: 'publish', fun, arg, tgt, tgt_type: tgtType, ret, jid, user }
  context.fire(tags.jobError(jid), {
    ...load,
    ...(owner !== undefined && { owner }),
    error: { name, message },
  })
}
