import { type Caller, ownerOf } from '../../auth/index.ts'
import { messageOf } from '../../base/errors.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { refusals } from '../../wire/envelope.ts'
import {
  type PublishLoad,
  publishReplies,
  readPublish,
  shownOptions,
  TARGET_INVALID,
} from '../../wire/publish-request.ts'
import type { ClaimedVia } from '../../wire/via.ts'
import { auditDecision } from '../preflight/audited-decisions.ts'
import { authorizeJob, unclearArguments } from '../preflight/authorize-job.ts'
import { checkJob } from '../preflight/check-job.ts'
import { optionsRefusal } from '../preflight/job-options.ts'
import { maskedJobArguments, offeredCatalogues } from '../preflight/preflight-job.ts'
import {
  type ResolvedTarget,
  resolveTarget,
  targetTooLarge,
  whyNoMinions,
} from '../preflight/resolve-target.ts'
import type { WorkerContext } from '../worker/context.ts'
import { askPythonMinions } from '../worker/python-minions.ts'
import { publishAllowedJob } from './publish-allowed-job.ts'
import { authenticate, refuseCall, refusePublish, refuseUnauthorized } from './refuse-publish.ts'

/** `publish`: authenticate, resolve, authorise, store, announce, publish (wire protocol §8.1). */
export function publishHandler(context: WorkerContext): ClearHandler {
  return async (load, via) => {
    const claimed = readPublish(load)
    if (!claimed) {
      context.log.debug('Refused to publish: tgt, fun or user are missing, or of the wrong kind')
      return refusals.exception
    }
    const tooLarge = targetTooLarge(claimed)
    if (tooLarge !== undefined) return publishReplies.failed(TARGET_INVALID, tooLarge)
    const who = await authenticate(context, 'publish', claimed, via)
    if ('refusal' in who) return who.refusal
    return publishFor(context, who.caller, { ...claimed, user: who.caller.name }, via)
  }
}

/** Publish the job of an authenticated caller, or refuse it. */
async function publishFor(
  context: WorkerContext,
  caller: Caller,
  request: PublishLoad,
  via: ClaimedVia | undefined,
): Promise<unknown> {
  const owner = ownerOf(caller)
  const expected = context.syndics.correct(await resolveTarget(context, request))
  const syndics = await context.syndics.reached()
  const hasSyndics = Object.values(syndics).some((ids) => ids.length > 0)
  const offers = offeredCatalogues(context, expected.minions)
  const shown = { ...request, arg: await maskedJobArguments(context, request, offers) }
  const unclear = unclearArguments(caller, request)
  if (unclear !== undefined) return refusePublish(context, shown, 'SaltInvocationError', unclear, owner)
  const decision = authorizeJob(context.auth, caller, request, expected)
  if (!decision.allowed) return refuseUnauthorized(context, caller, shown, decision, via)
  const refusedOptions = optionsRefusal(context, request, caller)
  if (refusedOptions !== undefined)
    return refusePublish(context, shown, 'SaltInvocationError', refusedOptions, owner)
  if (!expected.minions.length && (!hasSyndics || expected.invalid !== undefined))
    return noMinionsReply(context, request, caller, expected)
  const checked = request.check ? await checkJob(context, request, offers) : undefined
  if (checked?.everywhere && !hasSyndics) return refuseCall(context, shown, checked.refusals, owner)
  if (checked) void askPythonMinions(context, expected.minions).catch(logNotAsked(context))
  const { limited, rule } = decision
  const onStored = (jid: string, act: 'publish' | 'batch') =>
    auditDecision(context, {
      act,
      verdict: 'allowed',
      user: caller.name,
      by: caller.by,
      eauth: caller.eauth,
      fun: shown.fun,
      args: shown.arg,
      tgt: shown.tgt,
      options: shownOptions(shown),
      jid,
      rule,
      via,
    })
  const job = { ...expected, syndics, owner, limited, refusals: checked?.refusals, onStored }
  return publishAllowedJob(context, request, shown, job)
}

const logNotAsked = (context: WorkerContext) => (error: unknown) =>
  context.log.debug(`Python minions were not asked what they offer: ${messageOf(error)}`)

/** Answer as Salt does when no minion matches, and add the reason. */
async function noMinionsReply(
  context: WorkerContext,
  request: PublishLoad,
  caller: Caller,
  { invalid }: ResolvedTarget,
) {
  const why = invalid === undefined ? { reason: await whyNoMinions(context, request, caller) } : { invalid }
  return publishReplies.noMatch(request.tgt, why)
}
