import { keysUnder, type Store, type StoreChange, type StoreReader } from '../store/index.ts'
import {
  type DeliveryState,
  type NotDelivered,
  readDeliveryState,
  type TakeAnswer,
} from '../wire/take-job.ts'

/** The minions that may take a job, and until when. */
export interface DeliveryTerms {
  /** Milliseconds since 1970. */
  readonly untilMs: number
  /**
   * The minions that can take the job later. Minions of Python Salt are not among them: they get it now, if they are connected,
   * or never.
   */
  readonly takers: readonly string[]
}

/** A job that waits for a minion. */
export interface WaitingFor {
  readonly jid: string
  /** When it was stored, in milliseconds since 1970. */
  readonly at: number
}

/** The final state of the delivery of a job to a minion. */
export interface Decision {
  readonly jid: string
  readonly id: string
  readonly state: DeliveryState
}

/** Maximum number of decisions that are read at once to be announced. */
const MAX_UNANNOUNCED = 1_000

/**
 * Jobs that wait for minions that are away (`deliver_within`). Keys: `['deliver', jid]` → until when minions may take it, in
 * milliseconds since 1970; for each minion that may still take it `['taker', jid, id]` and `['waits', id, jid]` → when the job
 * was stored; after that `['delivery', jid, id]` → a {@link DeliveryState}, and `['delivery-news', jid, id]` while its event has
 * not been fired. `['withheld', jid, id]` is true for a minion that does not get a job any more; it may have received the job
 * already.
 *
 * A minion takes a job before it begins it, and each decision is one transaction. So a cancelled or expired job never runs, and
 * one that was delivered is never cancelled.
 */
export class Deliveries {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  static add(records: StoreChange, jid: string, { untilMs, takers }: DeliveryTerms, now: number): void {
    if (takers.length === 0) return
    records.put(['deliver', jid], untilMs)
    for (const id of takers) {
      records.put(['taker', jid, id], true)
      records.put(['waits', id, jid], now)
    }
  }

  /** Whether minions may still take a job, so that its records must be kept. */
  static isOpen(records: StoreReader, jid: string): boolean {
    return records.has(['deliver', jid])
  }

  /**
   * Record that a minion has returned a job. It may not have taken the job before: with a full disk, minions return jobs as
   * refused.
   */
  static settle(records: StoreChange, jid: string, id: string): void {
    if (!records.has(['taker', jid, id])) return
    removeTaker(records, jid, id)
    closeIfDecided(records, jid)
  }

  /** Remove the records of a job that is removed. */
  static forget(records: StoreChange, jid: string): void {
    for (const id of takersOf(records, jid)) removeTaker(records, jid, id)
    records.remove(['deliver', jid])
    for (const key of [...records.keys(keysUnder('withheld', jid))]) records.remove(key)
  }

  /** List the jobs that minions may still take, and until when, in milliseconds since 1970. */
  list(): { readonly jid: string; readonly untilMs: number }[] {
    const entries = this.#store.entries(keysUnder('deliver'))
    return Array.from(entries, ({ key, value }) => ({ jid: String(key[1]), untilMs: Number(value) }))
  }

  /** Return until when a minion may take a job, in milliseconds since 1970; undefined if it may not. */
  untilFor(jid: string, id: string): number | undefined {
    return this.#store.has(['taker', jid, id]) ? untilOf(this.#store, jid) : undefined
  }

  /** Return until when minions may take a job; undefined if none may. */
  until(jid: string): number | undefined {
    return untilOf(this.#store, jid)
  }

  /** Return the state of the delivery of a job to a minion; undefined if it is undecided, or the job has no `deliver_within`. */
  state(jid: string, id: string): DeliveryState | undefined {
    return readDeliveryState(this.#store.get(['delivery', jid, id]))
  }

  /** Return the minions that may still take a job. */
  takers(jid: string): string[] {
    return takersOf(this.#store, jid)
  }

  /** Return the number of the minions that may still take a job. */
  takerCount(jid: string): number {
    return this.#store.count(keysUnder('taker', jid))
  }

  /** List the minions that may still take a job, and when the job was stored for them. */
  waiters(jid: string): { readonly id: string; readonly at: number }[] {
    return this.takers(jid).map((id) => ({ id, at: Number(this.#store.get(['waits', id, jid])) }))
  }

  /** List the jobs that wait for a minion. */
  waitingFor(id: string): WaitingFor[] {
    const entries = this.#store.entries(keysUnder('waits', id))
    return Array.from(entries, ({ key, value }) => ({ jid: String(key[2]), at: Number(value) }))
  }

  /**
   * Take a job for one of its minions. Resolves when that is on disk; `isNew` is true once, when the minion takes it for the first
   * time, `isLast` if no other minion may take it.
   */
  async take(
    jid: string,
    id: string,
    now: number,
  ): Promise<{ readonly answer: TakeAnswer; readonly isNew: boolean; readonly isLast: boolean }> {
    return this.#store.change((records) => {
      const answer = answerTo(records, jid, id, now)
      const isNew = answer === 'delivered' && records.has(['taker', jid, id])
      if (isNew) {
        decide(records, jid, id, 'delivered')
        closeIfDecided(records, jid)
      }
      return { answer, isNew, isLast: isNew && !Deliveries.isOpen(records, jid) }
    })
  }

  /** Record that a minion has taken a job from another master, even if its time was over here. */
  async delivered(jid: string, id: string): Promise<void> {
    await this.#store.change((records) => {
      if (readDeliveryState(records.get(['delivery', jid, id])) === 'delivered') return
      decide(records, jid, id, 'delivered')
      records.put(['delivery-news', jid, id], true)
      closeIfDecided(records, jid)
    })
  }

  /**
   * Cancel a job for the minions that may still take it; with `ids`, only for these minions. Resolves with the minions concerned.
   */
  async cancel(jid: string, ids?: readonly string[]): Promise<string[]> {
    return this.#store.change((records) => {
      const wanted = ids && new Set(ids)
      const cancelled = takersOf(records, jid).filter((id) => !wanted || wanted.has(id))
      for (const id of cancelled) end(records, jid, id, 'cancelled')
      closeIfDecided(records, jid)
      return cancelled
    })
  }

  /** Do not give a job to these minions any more, even if they do not have it yet. */
  async withhold(jid: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await this.#store.change((records) => {
      for (const id of ids) records.put(['withheld', jid, id], true)
    })
  }

  /** Whether a minion that asks for a job must not get it. */
  isWithheld(jid: string, id: string): boolean {
    return this.#store.has(['withheld', jid, id])
  }

  /** Cancel all jobs that wait for these minions, because their keys were revoked. */
  async cancelFor(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      if (this.#store.count(keysUnder('waits', id)) === 0) continue
      await this.#store.change((records) => {
        for (const [, , jid] of [...records.keys(keysUnder('waits', id))]) {
          end(records, String(jid), id, 'cancelled')
          closeIfDecided(records, String(jid))
        }
      })
    }
  }

  /** Close a job, so that no minion can take it any more. Minions that have not decided get this state. */
  async close(jid: string, state: NotDelivered): Promise<void> {
    await this.#store.change((records) => {
      for (const id of takersOf(records, jid)) end(records, jid, id, state)
      records.remove(['deliver', jid])
    })
  }

  /**
   * List some of the decisions whose events have not been fired. Decisions of {@link take} are not among them, since its caller
   * fires their events.
   */
  unannounced(): Decision[] {
    const decisions: Decision[] = []
    for (const [, jid, id] of this.#store.keys(keysUnder('delivery-news'))) {
      const state = this.state(String(jid), String(id))
      if (state) decisions.push({ jid: String(jid), id: String(id), state })
      if (decisions.length === MAX_UNANNOUNCED) break
    }
    return decisions
  }

  /** Record that the events of decisions have been fired. */
  async announced(decisions: readonly Pick<Decision, 'jid' | 'id'>[]): Promise<void> {
    await this.#store.change((records) => {
      for (const { jid, id } of decisions) records.remove(['delivery-news', jid, id])
    })
  }
}

function answerTo(records: StoreReader, jid: string, id: string, now: number): TakeAnswer {
  if (records.has(['ret', jid, id])) return 'returned'
  const known = readDeliveryState(records.get(['delivery', jid, id]))
  if (known) return known
  const untilMs = records.has(['taker', jid, id]) ? untilOf(records, jid) : undefined
  if (untilMs === undefined) return 'unknown'
  return untilMs <= now ? 'expired' : 'delivered'
}

const takersOf = (records: StoreReader, jid: string): string[] =>
  Array.from(records.keys(keysUnder('taker', jid)), (key) => String(key[2]))

function untilOf(records: Pick<StoreReader, 'get'>, jid: string): number | undefined {
  const untilMs = records.get(['deliver', jid])
  return typeof untilMs === 'number' ? untilMs : undefined
}

function end(records: StoreChange, jid: string, id: string, state: NotDelivered): void {
  decide(records, jid, id, state)
  records.put(['delivery-news', jid, id], true)
}

function decide(records: StoreChange, jid: string, id: string, state: DeliveryState): void {
  records.put(['delivery', jid, id], state)
  removeTaker(records, jid, id)
}

/** Remove a minion from those that may take a job. */
function removeTaker(records: StoreChange, jid: string, id: string): void {
  records.remove(['taker', jid, id])
  records.remove(['waits', id, jid])
}

function closeIfDecided(records: StoreChange, jid: string): void {
  for (const _ of records.keys(keysUnder('taker', jid))) return
  records.remove(['deliver', jid])
}
