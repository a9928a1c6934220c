/** Choose the value to print for the result of a minion, and the options to print it with. */
import { hasReturned, type MinionResult } from '../../client/index.ts'
import type { Printed } from '../output/printer.ts'

interface Shape {
  /** Print the complete return, with its state. */
  readonly fullReturn?: boolean
}

interface MissingChoice {
  /** List the minions that did not return. */
  readonly showMissing: boolean
  readonly summary: boolean
  readonly verbose: boolean
}

/** Whether to print a result. Minions that may not match the target are printed only with `--summary` or `-v`. */
export function isPrinted(result: MinionResult, { showMissing, summary, verbose }: MissingChoice): boolean {
  return hasReturned(result) || (showMissing && (result.state !== 'unknown' || summary || verbose))
}

/** Return the value to print for a result. */
export function printedValue(result: MinionResult, { fullReturn }: Shape): unknown {
  if (fullReturn) return fullReturnOf(result)
  return hasReturned(result) ? result.return : result.reason
}

/** Return the outputter and the return code to print a result with. */
export function printOptions(result: MinionResult, { fullReturn }: Shape): Printed {
  if (fullReturn) return {}
  if (!hasReturned(result)) return { outputter: 'no_return' }
  return { outputter: result.out, retcode: result.state === 'failed' ? result.retcode || 1 : 0 }
}

/** Return a complete return, or what is known of a minion that did not return. */
function fullReturnOf(result: MinionResult): Record<string, unknown> {
  const { id, jid, jobState: state, why: reason } = result
  if (!hasReturned(result)) return { id, jid, state, reason }
  const { jobState, why, ...all } = result
  return { ...all, state, reason }
}
