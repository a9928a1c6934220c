/** Results of runners in Salt's forms. */

import type { ErrorCode } from '../base/error-codes.ts'
import { messageWithCauses, SaltError, traceOf } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'

export interface RunnerResult {
  readonly jid: string
  readonly return: unknown
  readonly success: boolean
  readonly retcode: number
  readonly outputter?: string
  /** Code of the error, if it has one: CALL_REFUSED (the function never ran), MASTER_UNREACHABLE, … */
  readonly failure?: ErrorCode
}

export type Ended = Omit<RunnerResult, 'jid'>

/**
 * Make the result of a function that returned. `context.retcode` was set by the function, `outputter` is declared by its
 * module.
 */
export function resultOf(given: unknown, context: { retcode: number }, outputter: string | undefined): Ended {
  const { value, outputter: shown = outputter } = shaped(given)
  const retcode = retcodeOf(given, context.retcode)
  return { return: value ?? null, success: retcode === 0, retcode, ...(shown && { outputter: shown }) }
}

/** Make the result of a function that threw: the message of a SaltError, or the stack of any other error. */
export function failedResult(what: string, error: unknown): Ended {
  if (SaltError.is(error))
    return { return: messageWithCauses(error), success: false, retcode: 1, failure: error.code }
  return { return: `Exception occurred in ${what}: ${traceOf(error)}`, success: false, retcode: 1 }
}

/** Make the result of a function that was aborted for a `reason`. */
export function abortedResult(what: string, reason: unknown): Ended {
  const isGiven = SaltError.is(reason) || !(reason instanceof DOMException)
  return failedResult(
    what,
    isGiven ? reason : new SaltError('CANCELLED', `${what} was ended before it was done.`),
  )
}

/**
 * Make the result of an aborted function that still returned a value. The value is kept and marked as failed. It is dropped if
 * `reason` is neither a SaltError nor the DOMException of a plain abort.
 */
export function earlyResult(what: string, reason: unknown, end: Ended): Ended {
  if (!SaltError.is(reason) && !(reason instanceof DOMException)) return abortedResult(what, reason)
  return { ...end, success: false, retcode: end.retcode || 1 }
}

/** Return the exit code. A runner may return it in a map (Salt: `retcode` or `data.retcode`). */
function retcodeOf(value: unknown, retcode: number): number {
  if (retcode || typeof value !== 'object' || value === null) return retcode
  const { retcode: own, data } = value as { retcode?: unknown; data?: { retcode?: unknown } }
  const named = own ?? data?.retcode
  return typeof named === 'number' ? named : 0
}

/** Split `{data, outputter}`, by which a runner names the outputter for its value. */
function shaped(given: unknown): { value: unknown; outputter?: string } {
  if (!isRecord(given) || Object.keys(given).length !== 2) return { value: given }
  const { data, outputter } = given
  return typeof outputter === 'string' && data !== undefined ? { value: data, outputter } : { value: given }
}
