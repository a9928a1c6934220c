/** Counts how a job ended on its minions, without keeping returns. */
import { hasReturned, type JobState, type MinionResult } from '../../client/index.ts'

/** A minion that failed, or did not return. */
export interface MinionProblem {
  readonly id: string
  readonly state: JobState
  /** Explanation, one or two sentences. */
  readonly why: string
  /** Return code of a function that failed. */
  readonly code?: number
}

export class Tally {
  readonly failures: MinionProblem[] = []
  readonly missing: MinionProblem[] = []
  /** Minions that are away and get the job when they come. */
  readonly waiting: MinionProblem[] = []
  /** Minions that did not return and perhaps do not match the target. */
  readonly unknown: MinionProblem[] = []
  /** Minions whose return was trimmed because its event was too large, by job id. */
  readonly trimmed = new Map<string, string[]>()
  /** Minions that returned and succeeded. */
  succeeded = 0
  /** Return codes: of failed minions, and of all minions that ran a single function. */
  readonly failureCodes = new Set<number>()
  readonly singleCodes = new Set<number>()

  add(result: MinionResult): void {
    const { id, state, jobState, why } = result
    if (hasReturned(result) && !Array.isArray(result.fun)) this.singleCodes.add(result.retcode)
    if (state === 'failed') this.failureCodes.add(result.retcode)
    if (hasReturned(result) && result.trimmed)
      this.trimmed.set(result.jid, [...(this.trimmed.get(result.jid) ?? []), id])
    const code = state === 'failed' ? { code: result.retcode || 1 } : {}
    const exception = { id, state: jobState, why, ...code }
    if (state === 'missing') this.missing.push(exception)
    else if (state === 'waiting') this.waiting.push(exception)
    else if (state === 'unknown') this.unknown.push(exception)
    else if (state === 'failed') this.failures.push(exception)
    else this.succeeded++
  }

  /** Number of minions that match. */
  get total(): number {
    return this.succeeded + this.failures.length + this.missing.length + this.waiting.length
  }

  get returned(): number {
    return this.succeeded + this.failures.length
  }
}
