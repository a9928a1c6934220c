import { type Event, tags } from '../events/index.ts'
import { isRecord } from '../wire/bytes.ts'
import type { MinionResult, PublishedJob } from './contract.ts'

/** What is known of the minions of one job while its returns come in (wire protocol §13.3). */
export class Waiting {
  readonly job: PublishedJob
  readonly #silent: Set<string>
  readonly #returned = new Set<string>()
  /** When each minion is given up unless it says that it still works, in milliseconds. */
  readonly #deadlines = new Map<string, number>()

  constructor(job: PublishedJob, deadline: number) {
    this.job = job
    this.#silent = new Set(job.minions)
    for (const id of job.minions) this.#deadlines.set(id, deadline)
  }

  /** Take an event of this job; gives the result if it is one that is new. */
  accept(event: Event, deadline: number): MinionResult | undefined {
    const { tag, data } = event
    const { jid } = this.job
    if (tag === tags.jobNew(jid) && Array.isArray(data.minions)) this.#expect(data.minions, deadline)
    const { id } = data
    if (typeof id !== 'string' || tag !== tags.jobReturn(jid, id) || this.#returned.has(id)) return undefined
    this.#returned.add(id)
    this.#silent.delete(id)
    return resultOf(id, data)
  }

  /** A syndic or a late answer names more minions. */
  #expect(minions: unknown[], deadline: number): void {
    for (const id of minions) {
      if (typeof id !== 'string' || this.#returned.has(id) || this.#silent.has(id)) continue
      this.#silent.add(id)
      this.#deadlines.set(id, deadline)
    }
  }

  get complete(): boolean {
    return this.#silent.size === 0
  }

  silent(): string[] {
    return [...this.#silent]
  }

  /** The minion says that the job still runs there. */
  extend(id: string, deadline: number): void {
    if (this.#silent.has(id)) this.#deadlines.set(id, deadline)
  }

  /** Minions whose time is over. */
  overdue(now: number): string[] {
    return this.silent().filter((id) => (this.#deadlines.get(id) ?? 0) <= now)
  }

  /** The next moment at which somebody is overdue. */
  nextDeadline(): number {
    return Math.min(...this.silent().map((id) => this.#deadlines.get(id) ?? 0))
  }

  giveUp(id: string): void {
    this.#silent.delete(id)
  }
}

export function resultOf(id: string, data: Readonly<Record<string, unknown>>): MinionResult {
  const { jid, fun, out, retcode, success } = data
  const code = codeOf(retcode)
  return {
    id,
    state: 'returned',
    return: data.return,
    retcode: code,
    success: allOf(success) ?? code === 0,
    ...(typeof out === 'string' && { out }),
    jid: String(jid),
    fun: fun as string | string[],
    ...(isRecord(data.metadata) && { metadata: data.metadata }),
  }
}

/** Of several functions all have to succeed; a Python minion gives no code for one that threw, and only says it here. */
function allOf(success: unknown): boolean | undefined {
  if (typeof success === 'boolean') return success
  if (typeof success !== 'object' || success === null) return undefined
  return Object.values(success).every((each) => each !== false)
}

/** A job with several functions has a code for each: the highest counts. */
function codeOf(retcode: unknown): number {
  if (typeof retcode === 'number') return retcode
  if (retcode instanceof Number) return Number(retcode)
  if (typeof retcode !== 'object' || retcode === null) return 0
  return Math.max(0, ...Object.values(retcode).map(codeOf))
}
