import type { Call, Caller, JobOptions, Verdict } from '../auth/index.ts'
import { targetsOf } from '../jobs/outbox-target.ts'
import { callsOf, splitArguments, withWords } from '../loader/index.ts'
import type { Expected } from '../targets/index.ts'
import { type PublishLoad, steeringOf } from '../wire/publish-request.ts'
import type { WorkerRoom } from './room.ts'

/**
 * Whether somebody may publish a job: each of its functions with its own arguments, and what it asks for
 * beside them, on every minion it could reach.
 */
export function judgeJob(
  { access }: Pick<WorkerRoom['auth'], 'access'>,
  caller: Caller,
  request: PublishLoad,
  { minions, missing }: Pick<Expected, 'minions' | 'missing'>,
): Verdict {
  if (!isPlain(request) && !caller.unrestricted) return { allowed: false, reason: NOT_PLAIN }
  const ids = minions.length > 0 ? [...minions, ...missing] : []
  const calls = callsOf(request).map((call): Call => {
    const { args, kwargs } = withWords(splitArguments(call.arg), call.words)
    return { kind: 'publish', fun: call.fun, args, kwargs, minions: ids }
  })
  return access.judgeJob(caller, calls, { ...optionsOf(request), minions: ids })
}

/** Whether it is clear which arguments are for which of several functions. */
export const isPlain = ({ fun, arg }: PublishLoad): boolean =>
  typeof fun === 'string' || arg.every((own) => Array.isArray(own))

export const NOT_PLAIN = 'The arguments of several functions are a list of one list for each.'

/** What it asks for beside its functions. */
const optionsOf = ({ ret, kwargs }: PublishLoad): Omit<JobOptions, 'minions'> => ({
  returners: targetsOf(ret).map(({ name }) => name),
  given: Object.keys(steeringOf(kwargs)),
})
