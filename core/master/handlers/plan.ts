import type { Params } from '../../author/params.ts'
import { MASK } from '../../base/secret.ts'
import { connectedIds } from '../../cache/connected.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { refusals } from '../../wire/envelope.ts'
import { publishReplies, readPublish, shownOptions, TARGET_INVALID } from '../../wire/publish-request.ts'
import { auditDecision } from '../preflight/audited-decisions.ts'
import { authorizeJob } from '../preflight/authorize-job.ts'
import { optionsRefusal } from '../preflight/job-options.ts'
import {
  maskedJobArguments,
  offeredCatalogues,
  type PreflightGroup,
  preflightJob,
  withDidYouMean,
} from '../preflight/preflight-job.ts'
import { resolveTarget, targetTooLarge, whyNoMinions } from '../preflight/resolve-target.ts'
import type { WorkerContext } from '../worker/context.ts'
import { authenticate } from './refuse-publish.ts'

/**
 * `_plan`: answer what the master would do with a job; nothing is stored, announced or published. A client that may not publish the job
 * learns only that. This is a command of its own because masters of Python Salt would ignore a flag and publish the job.
 */
export function planHandler(context: WorkerContext): ClearHandler {
  return async (load, via) => {
    const claimed = readPublish(load)
    if (!claimed) return refusals.exception
    const tooLarge = targetTooLarge(claimed)
    if (tooLarge !== undefined) return publishReplies.failed(TARGET_INVALID, tooLarge)
    const who = await authenticate(context, 'plan', claimed, via)
    if ('refusal' in who) return who.refusal
    const { caller } = who
    const request = { ...claimed, user: caller.name }
    const { minions, missing, unknown, invalid } = await resolveTarget(context, request)
    if (invalid !== undefined) return publishReplies.failed(TARGET_INVALID, invalid)
    const { name: user } = caller
    const decision = authorizeJob(context.auth, caller, request, { minions, missing })
    const { allowed, rule } = decision
    if (!allowed) {
      const { reason } = decision
      await auditDecision(context, {
        act: 'plan',
        verdict: 'refused',
        user,
        by: caller.by,
        fun: request.fun,
        options: shownOptions(request),
        rule,
        reason,
        via,
      })
      return { enc: 'clear', load: { plan: { allowed, user, reason, ...(rule !== undefined && { rule }) } } }
    }
    const refused = optionsRefusal(context, request, caller)
    if (refused !== undefined) return publishReplies.failed('SaltInvocationError', refused)
    const present = (await connectedIds(context.config)) ?? []
    const offers = offeredCatalogues(context, minions)
    const sent = await maskedJobArguments(context, request, offers)
    const groups = preflightJob(request, offers).map((group) => shownGroup(group, request.fun, sent))
    const there = minions.filter((id) => present.includes(id))
    const nobody = minions.length > 0 ? undefined : await whyNoMinions(context, request, caller)
    const plan = {
      allowed,
      user,
      rule,
      minions,
      missing,
      unknown,
      connected: there,
      groups,
      ...(nobody !== undefined && { nobody }),
    }
    return { enc: 'clear', load: { plan } }
  }
}

/** Show the calls of a group, with the arguments as sent if the parameters of the functions are not known. */
function shownGroup(
  { minions, calls }: PreflightGroup,
  fun: string | readonly string[],
  sent: readonly unknown[],
) {
  const funs = [fun].flat()
  const unknown = (index: number) => ({ arguments: typeof fun === 'string' ? sent : (sent[index] ?? []) })
  const shown = funs.map((name, index) => {
    const call = calls?.[index]
    if (!call) return { fun: name, known: false, ...unknown(index) }
    if ('refusal' in call) return { fun: name, known: true, refusal: withDidYouMean(call.refusal, call.hint) }
    const { values, params } = call
    return {
      fun: name,
      known: true,
      ...(values && params ? { arguments: masked(values, params) } : unknown(index)),
    }
  })
  return { minions, calls: shown }
}

function masked(values: Readonly<Record<string, unknown>>, params: Params): Record<string, unknown> {
  const shown = Object.entries(values).map(([name, value]) => {
    const secret = Object.hasOwn(params, name) && params[name]?.secret
    return [name, secret && value !== undefined ? MASK : value]
  })
  return Object.fromEntries(shown)
}
