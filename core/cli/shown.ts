/** What is printed of the result of a minion, and how. */
import type { MinionResult } from '../client/index.ts'
import type { Printed } from './printer.ts'

interface Shape {
  /** The whole return, with its state. */
  readonly fullReturn?: boolean
}

interface Wish {
  /** Name the minions that did not return. */
  readonly showMissing: boolean
  readonly summary: boolean
  readonly verbose: boolean
}

/** Who is perhaps not meant at all is named only where everything is told. */
export function isNamed({ state }: MinionResult, { showMissing, summary, verbose }: Wish): boolean {
  return state === 'returned' || (showMissing && (state === 'missing' || summary || verbose))
}

/** What stands for the result of a minion. */
export function shownOf(result: MinionResult, { fullReturn }: Shape): unknown {
  if (fullReturn) return fullReturnOf(result)
  return result.state === 'returned' ? result.return : result.reason
}

/** How that is printed. */
export function printedAs(result: MinionResult, { fullReturn }: Shape): Printed {
  if (fullReturn) return {}
  if (result.state !== 'returned') return { outputter: 'no_return' }
  return { outputter: result.out, retcode: result.jobState === 'failed' ? result.retcode || 1 : 0 }
}

/** The return of a minion with all that came with it; of one that did not return what is known. */
function fullReturnOf(result: MinionResult): Record<string, unknown> {
  const { id, jid, jobState: state, why: reason } = result
  if (result.state !== 'returned') return { id, jid, state, reason }
  const { jobState, why, ...all } = result
  return { ...all, state, reason }
}
