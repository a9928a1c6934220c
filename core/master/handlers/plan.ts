import type { Params } from '../../author/params.ts'
import { MASK } from '../../base/secret.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import { connectedIds } from '../../jobs/connected.ts'
import { refusals } from '../../wire/envelope.ts'
import { publishReplies, readPublish, shownOptions, TARGET_INVALID } from '../../wire/publish-request.ts'
import { noteDecision } from '../decisions.ts'
import { foreseeJob, type Group, offersOf, shownTo, withDidYouMean } from '../foresight.ts'
import { judgeJob } from '../judge-job.ts'
import { reasonForNobody, resolve, whyRefused } from '../resolve.ts'
import type { WorkerRoom } from '../room.ts'
import { identify } from './refuse-publish.ts'

/**
 * `_plan`: what would become of a job, for which nothing is stored, announced or published. Who may not publish it learns
 * that and no more. A command of its own, since masters of Python Salt, which do not know it, would publish the job.
 */
export function planHandler(room: WorkerRoom): ClearHandler {
  return async (load, via) => {
    const claimed = readPublish(load)
    if (!claimed) return refusals.exception
    const tooLarge = whyRefused(claimed)
    if (tooLarge !== undefined) return publishReplies.failed(TARGET_INVALID, tooLarge)
    const who = await identify(room, 'plan', claimed, via)
    if ('refusal' in who) return who.refusal
    const { caller } = who
    const request = { ...claimed, user: caller.name }
    const { minions, missing, unknown, invalid } = await resolve(room, request)
    if (invalid !== undefined) return publishReplies.failed(TARGET_INVALID, invalid)
    const { name: user } = caller
    const verdict = judgeJob(room.auth, caller, request, { minions, missing })
    const { allowed, rule } = verdict
    if (!allowed) {
      const { reason } = verdict
      await noteDecision(room, {
        act: 'plan',
        verdict: 'refused',
        ...{ user, by: caller.by, fun: request.fun, options: shownOptions(request), rule, reason, via },
      })
      return { enc: 'clear', load: { plan: { allowed, user, reason, ...(rule !== undefined && { rule }) } } }
    }
    const present = (await connectedIds(room.config)) ?? []
    const offers = offersOf(room, minions)
    const sent = await shownTo(room, request, offers)
    const groups = foreseeJob(request, offers).map((group) => shownGroup(group, request.fun, sent))
    const there = minions.filter((id) => present.includes(id))
    const nobody = minions.length > 0 ? undefined : await reasonForNobody(room, request, caller)
    const plan = {
      ...{ allowed, user, rule, minions, missing, unknown, connected: there, groups },
      ...(nobody !== undefined && { nobody }),
    }
    return { enc: 'clear', load: { plan } }
  }
}

/** Where it is not known what the minions take, the arguments are shown as they are sent. */
function shownGroup({ minions, calls }: Group, fun: string | readonly string[], sent: readonly unknown[]) {
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
