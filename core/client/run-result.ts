/** What a runner gave, in the forms Salt knows. */
import type { ErrorCode } from '../base/error-codes.ts'
import { messageWithCauses, SaltError, traceOf } from '../base/errors.ts'
import { isRecord } from '../wire/bytes.ts'

export interface RunnerResult {
  readonly jid: string
  readonly return: unknown
  readonly success: boolean
  readonly retcode: number
  readonly outputter?: string
  /** What went wrong, if it is known by a code: CALL_REFUSED (it never ran), MASTER_UNREACHABLE, … */
  readonly failure?: ErrorCode
}

export type Ended = Omit<RunnerResult, 'jid'>

/** `retcode` is what the function set in its context, `outputter` what its module declares. */
export function ended(given: unknown, context: { retcode: number }, outputter: string | undefined): Ended {
  const { value, outputter: shown = outputter } = shaped(given)
  const retcode = retcodeOf(given, context.retcode)
  return { return: value ?? null, success: retcode === 0, retcode, ...(shown && { outputter: shown }) }
}

/** A function that threw: errors somebody foresaw are sentences, the others have a stack. */
export function failed(what: string, error: unknown): Ended {
  if (SaltError.is(error))
    return { return: messageWithCauses(error), success: false, retcode: 1, failure: error.code }
  return { return: `Exception occurred in ${what}: ${traceOf(error)}`, success: false, retcode: 1 }
}

/** A function that did not come to its end: `reason` is why it was to end. */
export function stopped(what: string, reason: unknown): Ended {
  const isGiven = SaltError.is(reason) || !(reason instanceof DOMException)
  return failed(what, isGiven ? reason : new SaltError('CANCELLED', `${what} was ended before it was done.`))
}

/** One that was told to end and gave something is not done, but what it gave is kept; after an error it is not. */
export function endedEarly(what: string, reason: unknown, end: Ended): Ended {
  if (!SaltError.is(reason) && !(reason instanceof DOMException)) return stopped(what, reason)
  return { ...end, success: false, retcode: end.retcode || 1 }
}

/** A runner that answers with a map may name its exit code in it (Salt: `retcode`, or `data.retcode`). */
function retcodeOf(value: unknown, retcode: number): number {
  if (retcode || typeof value !== 'object' || value === null) return retcode
  const { retcode: own, data } = value as { retcode?: unknown; data?: { retcode?: unknown } }
  const named = own ?? data?.retcode
  return typeof named === 'number' ? named : 0
}

/** A runner may say which outputter suits what it gives: `{data, outputter}`. */
function shaped(given: unknown): { value: unknown; outputter?: string } {
  if (!isRecord(given) || Object.keys(given).length !== 2) return { value: given }
  const { data, outputter } = given
  return typeof outputter === 'string' && data !== undefined ? { value: data, outputter } : { value: given }
}
