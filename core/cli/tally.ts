/** How a job ended on the minions, without what they returned: as small for 5,000 minions as for five. */
import type { JobState, MinionResult } from '../client/index.ts'

/** A minion that failed, or did not return. */
export interface Exception {
  readonly id: string
  readonly state: JobState
  /** A sentence or two. */
  readonly why: string
  /** What a function that failed returned with. */
  readonly code?: number
}

export class Tally {
  readonly failures: Exception[] = []
  readonly missing: Exception[] = []
  /** Did not return, and are perhaps not meant. */
  readonly unknown: Exception[] = []
  /** Whose return is not whole, because its event was too large, by job id. */
  readonly trimmed = new Map<string, string[]>()
  /** Minions that returned and succeeded. */
  succeeded = 0
  /** What those that failed returned with, and all of them that ran a single function. */
  readonly failureCodes = new Set<number>()
  readonly singleCodes = new Set<number>()

  add(result: MinionResult): void {
    const { id, state, jobState, why } = result
    if (state === 'returned' && !Array.isArray(result.fun)) this.singleCodes.add(result.retcode)
    if (state === 'returned' && jobState === 'failed') this.failureCodes.add(result.retcode)
    if (state === 'returned' && result.trimmed)
      this.trimmed.set(result.jid, [...(this.trimmed.get(result.jid) ?? []), id])
    const code = state === 'returned' && jobState === 'failed' ? { code: result.retcode || 1 } : {}
    const exception = { id, state: jobState, why, ...code }
    if (state === 'missing') this.missing.push(exception)
    else if (state === 'unknown') this.unknown.push(exception)
    else if (jobState === 'failed') this.failures.push(exception)
    else this.succeeded++
  }

  /** Minions that are meant. */
  get total(): number {
    return this.succeeded + this.failures.length + this.missing.length
  }

  get returned(): number {
    return this.succeeded + this.failures.length
  }
}
