import type { JobLoad } from './publication.ts'

/** What running one function gave. */
export interface Outcome {
  readonly return: unknown
  readonly retcode: number
  readonly success: boolean
  readonly out?: string
  /** Why nothing was returned by the function itself; absent if it ran. Real minions place `out` by it. */
  readonly failure?: 'missing' | 'error'
}

/** A return as a minion sends it, in the order of keys real minions use (wire protocol §10.3). */
export type ReturnLoad = Readonly<Record<string, unknown>> & { readonly jid: string; readonly id: string }

/** Keys of a job that its returns repeat. */
function repeated(job: JobLoad): Record<string, unknown> {
  const { user, master_id, metadata } = job
  return { user, master_id, metadata }
}

/** Arguments as returns show them: the marker of keyword arguments is removed. */
export function shownArguments(arg: readonly unknown[]): unknown[] {
  return arg.map((value) => {
    if (Array.isArray(value)) return value
    if (typeof value !== 'object' || value === null || !('__kwarg__' in value)) return value
    const { __kwarg__, ...rest } = value as Record<string, unknown>
    return rest
  })
}

export function makeReturn(job: JobLoad, id: string, outcome: Outcome): ReturnLoad {
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
    fun_args: shownArguments(job.arg),
    ...repeated(job),
    ...(!failure && { out }),
  })
}

/** Return of a job with several functions: maps from function to value, or arrays when `ordered`. */
export function makeMultiReturn(
  job: JobLoad,
  id: string,
  outcomes: readonly (readonly [fun: string, Outcome])[],
  ordered: boolean,
): ReturnLoad {
  const collect = (pick: (outcome: Outcome) => unknown) =>
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
    fun_args: job.arg.map((arg) => (Array.isArray(arg) ? shownArguments(arg) : arg)),
    ...repeated(job),
  })
}

function defined(map: Record<string, unknown>): ReturnLoad {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined)) as ReturnLoad
}

/** Salt's rule for the exit code of a result (wire protocol §10.3). */
export function retcodeOf(result: unknown, retcode: number): number {
  if (retcode !== 0) return retcode
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return 0
  const { result: state, success } = result as Record<string, unknown>
  return state === false || success === false ? 1 : 0
}
