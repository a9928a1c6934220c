import type { JobLoad } from './publication.ts'

/** The result of running one function. */
export interface JobResult {
  readonly return: unknown
  readonly retcode: number
  readonly success: boolean
  readonly out?: string
  /**
   * Why the function itself returned nothing; absent if it did. The position of `out` depends on it, as in Salt's
   * minions.
   */
  readonly failure?: 'missing' | 'error'
}

/** A return as a minion sends it, with the keys in the order of Salt's minions (wire protocol §10.3). */
export type ReturnLoad = Readonly<Record<string, unknown>> & { readonly jid: string; readonly id: string }

/** Return the fields of a job that its returns repeat. */
function repeated(job: JobLoad): Record<string, unknown> {
  const { user, master_id, cluster_id, metadata } = job
  return { user, master_id, cluster_id, metadata }
}

/** Return the arguments for a return: without the marker of keyword arguments. */
export function argumentsForReturn(arg: readonly unknown[]): unknown[] {
  return arg.map((value) => {
    if (Array.isArray(value)) return value
    if (typeof value !== 'object' || value === null || !('__kwarg__' in value)) return value
    const { __kwarg__, ...rest } = value as Record<string, unknown>
    return rest
  })
}

export function makeReturn(job: JobLoad, id: string, outcome: JobResult): ReturnLoad {
  const { out, failure } = outcome
  return defined({
    cmd: '_return',
    id,
    success: outcome.success,
    return: outcome.return,
    ...(failure === 'error' && { out }),
    retcode: outcome.retcode,
    ...(failure === 'missing' && { out }),
    jid: job.jid,
    fun: job.fun,
    fun_args: argumentsForReturn(job.arg),
    ...repeated(job),
    ...(!failure && { out }),
  })
}

/** Make the return of a job with several functions: maps from function to value, or arrays if `ordered`. */
export function makeMultiReturn(
  job: JobLoad,
  id: string,
  outcomes: readonly (readonly [fun: string, JobResult])[],
  ordered: boolean,
): ReturnLoad {
  const collect = (pick: (outcome: JobResult) => unknown) =>
    ordered
      ? outcomes.map(([, outcome]) => pick(outcome))
      : Object.fromEntries(outcomes.map(([fun, outcome]) => [fun, pick(outcome)]))
  return defined({
    cmd: '_return',
    id,
    return: collect((outcome) => outcome.return),
    retcode: collect((outcome) => outcome.retcode),
    success: collect((outcome) => outcome.success),
    jid: job.jid,
    fun: job.fun,
    fun_args: job.arg.map((arg) => (Array.isArray(arg) ? argumentsForReturn(arg) : arg)),
    ...repeated(job),
  })
}

function defined(map: Record<string, unknown>): ReturnLoad {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined)) as ReturnLoad
}

/** Return the exit code of a result by Salt's rule (wire protocol §10.3). */
export function retcodeOf(result: unknown, retcode: number): number {
  if (retcode !== 0) return retcode
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return 0
  const { result: state, success } = result as Record<string, unknown>
  return state === false || success === false ? 1 : 0
}
