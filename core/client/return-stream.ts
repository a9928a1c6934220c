import { type Event, tags } from '../events/index.ts'
import { isRecord } from '../wire/bytes.ts'
import { endOf } from '../wire/return-end.ts'
import type { MinionResult, ProgressRow, PublishedJob } from './contract.ts'
import type { Missing } from './missing.ts'

/** What is known of the minions of one job while its returns come in (wire protocol §13.3). */
export class Waiting {
  readonly job: PublishedJob
  /** When each minion that has not returned is asked about, in milliseconds. */
  readonly #silent = new Map<string, number>()
  readonly #givenUp = new Map<string, Missing>()
  readonly #returned = new Set<string>()

  constructor(job: PublishedJob, deadline: number) {
    this.job = job
    for (const id of job.minions) this.#silent.set(id, deadline)
  }

  /** Take an event of this job; gives the result if it is one that is new. A minion that was given up may still return. */
  accept(event: Event, deadline: number): MinionResult | undefined {
    const { tag, data } = event
    const { jid } = this.job
    if (tag === tags.jobNew(jid) && Array.isArray(data.minions)) this.#expect(data.minions, deadline)
    const { id } = data
    if (typeof id !== 'string' || tag !== tags.jobReturn(jid, id)) return undefined
    return this.returned(id) ? resultOf(id, data) : undefined
  }

  /** The row that an event of this job tells of, if it does and its minion has not returned yet. */
  row({ tag, data }: Event): ProgressRow | undefined {
    const { id } = data
    if (typeof id !== 'string' || this.#returned.has(id)) return undefined
    const number = Number(tag.slice(tags.jobProgress(this.job.jid, id, '').length))
    if (tag !== tags.jobProgress(this.job.jid, id, number)) return undefined
    const told = isRecord(data.data) ? data.data : data
    return { id, state: 'progress', number, row: told.return }
  }

  /** Note that a minion has returned; false if that is known. */
  returned(id: string): boolean {
    if (this.#returned.has(id)) return false
    this.#returned.add(id)
    this.#silent.delete(id)
    this.#givenUp.delete(id)
    return true
  }

  /** A syndic or a late answer names more minions. */
  #expect(minions: unknown[], deadline: number): void {
    for (const id of minions) {
      if (typeof id !== 'string' || this.#returned.has(id) || this.#givenUp.has(id)) continue
      if (!this.#silent.has(id)) this.#silent.set(id, deadline)
    }
  }

  /** Nobody is waited for any more. */
  get complete(): boolean {
    return this.#silent.size === 0
  }

  silent(): string[] {
    return [...this.#silent.keys()]
  }

  /** All that have not returned, whether they are waited for or not; with the reason, if they were given up. */
  missing(): Map<string, Missing | undefined> {
    return new Map([...this.#givenUp, ...this.silent().map((id) => [id, undefined] as const)])
  }

  /** They are waited for until then, if they are still silent. */
  extend(ids: Iterable<string>, deadline: number): void {
    for (const id of ids) if (this.#silent.has(id)) this.#silent.set(id, deadline)
  }

  /** Minions whose time is over. */
  overdue(now: number): string[] {
    return this.silent().filter((id) => (this.#silent.get(id) ?? 0) <= now)
  }

  /** The next moment at which somebody is overdue. */
  nextDeadline(): number {
    let next = Number.POSITIVE_INFINITY
    for (const deadline of this.#silent.values()) next = Math.min(next, deadline)
    return next
  }

  giveUp(ids: Iterable<string>, why: Missing): void {
    for (const id of ids) if (this.#silent.delete(id)) this.#givenUp.set(id, why)
  }
}

export function resultOf(id: string, data: Readonly<Record<string, unknown>>): MinionResult {
  const { jid, fun, out, metadata } = data
  return {
    id,
    state: 'returned',
    return: data.return,
    ...endOf(data),
    ...(typeof out === 'string' && { out }),
    jid: String(jid),
    fun: fun as string | string[],
    ...(isRecord(metadata) && { metadata }),
  }
}
