import type { AccessDecision, Caller, JobOptions, RequestedCall } from '../../auth/index.ts'
import { callsOf, splitArguments, withWords } from '../../loader/index.ts'
import { targetsOf } from '../../outbox/outbox-target.ts'
import type { Expected } from '../../targets/index.ts'
import { executionOptionsOf, type PublishLoad } from '../../wire/publish-request.ts'
import type { WorkerContext } from '../worker/context.ts'

/**
 * Decide whether the caller may publish a job: each of its functions with its own arguments, and its other options, on
 * every minion that it could reach.
 */
export function authorizeJob(
  { access }: Pick<WorkerContext['auth'], 'access'>,
  caller: Caller,
  request: PublishLoad,
  { minions, missing }: Pick<Expected, 'minions' | 'missing'>,
): AccessDecision {
  const unclear = unclearArguments(caller, request)
  if (unclear !== undefined) return { allowed: false, reason: unclear }
  const ids = minions.length > 0 ? [...minions, ...missing] : []
  const calls = callsOf(request).map((call): RequestedCall => {
    const { args, kwargs } = withWords(splitArguments(call.arg), call.words)
    return { kind: 'publish', fun: call.fun, args, kwargs, minions: ids }
  })
  return access.authorizeJob(caller, calls, { ...optionsOf(request), minions: ids })
}

/** Return why it is unclear which of several functions gets which arguments. Unrestricted callers need no rule, and so no clear arguments. */
export function unclearArguments(caller: Caller, { fun, arg }: PublishLoad): string | undefined {
  if (caller.unrestricted || typeof fun === 'string' || arg.every((own) => Array.isArray(own)))
    return undefined
  return 'The arguments of several functions must be a list with one list for each function.'
}

/** Return the options of a job that need a permission of their own. */
const optionsOf = ({ ret, kwargs }: PublishLoad): Omit<JobOptions, 'minions'> => ({
  returners: targetsOf(ret).map(({ name }) => name),
  given: Object.keys(executionOptionsOf(kwargs)),
})
