/** Jobs and their results as salt-api gives them. */

export interface HttpJob {
  readonly jid: string
  /** Minions that are expected to return. */
  readonly minions: readonly string[]
}

/** The outcome of a job on one minion. `R` is the type of what its function returns. */
export type HttpResult<R = unknown> = { readonly id: string; readonly jid: string } & (
  | { readonly state: 'returned'; readonly return: R; readonly retcode: 0 }
  /** The exit code is not 0. The return is mostly the text of an error. */
  | { readonly state: 'failed'; readonly return: unknown; readonly retcode: number }
  /** `reason` is a sentence. */
  | { readonly state: 'missing'; readonly reason: string }
)

/** A result of a minion, as salt-api gives it with `full_return`. */
export interface Item {
  readonly ret: unknown
  readonly retcode: number
  readonly jid: string
  readonly failed?: boolean
}

export function resultOf(id: string, { ret, retcode, jid, failed }: Item): HttpResult {
  if (failed) return { id, jid, state: 'missing', reason: String(ret) }
  if (retcode === 0) return { id, jid, state: 'returned', return: ret, retcode }
  return { id, jid, state: 'failed', return: ret, retcode }
}

/** A return, in an event or in the job cache. */
export type HttpReturn = Readonly<Record<string, unknown>>

/** Return the result in a return. */
export const resultIn = (jid: string, id: string, given: HttpReturn): HttpResult =>
  resultOf(id, { ret: given.return, retcode: retcodeIn(given), jid })

/** Return the exit code of a return: of several functions the largest one. */
function retcodeIn({ retcode = 0 }: HttpReturn): number {
  return typeof retcode === 'object'
    ? Math.max(0, ...Object.values(retcode ?? {}).map(Number))
    : Number(retcode)
}
