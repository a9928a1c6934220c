import { isRecord } from '../base/record.ts'
import { keysUnder, type Store, type StoreChange, type StoreReader } from '../store/index.ts'
import type { TakeAnswer } from '../wire/take-job.ts'
import { readJob } from './job-record.ts'

/** What became of a job with `deliver_within` on one minion: the minion has taken it, or does not get it any more. */
export type DeliveryState = 'delivered' | 'expired' | 'cancelled'

/** The minions for which a job was cancelled, and those that have it already. */
export interface Cancelled {
  readonly cancelled: readonly string[]
  readonly taken: readonly string[]
}

/** How long the minions of a job may take it. */
export interface DeliveryTerms {
  /** Milliseconds since 1970. */
  readonly until: number
  /** Minions that cannot take jobs, as those of Python Salt: they get it if they are connected, and never later. */
  readonly except: readonly string[]
}

/**
 * Jobs that wait for minions that are away (`deliver_within`). Keys: `['deliver', jid]` → {@link DeliveryTerms}, removed
 * once no minion may take the job; `['delivery', jid, id]` → a {@link DeliveryState},
 * and `['delivery-news', jid, id]` → the same while its event has not been fired. A minion of an open job that has no such
 * record, no start and no return is undecided.
 *
 * A minion takes a job before it begins it, and each change of a state is one transaction. So a cancelled or expired job never
 * runs, and one that was delivered is never cancelled.
 */
export class Deliveries {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  static open(records: StoreChange, jid: string, { until, except }: DeliveryTerms): void {
    records.put(['deliver', jid], { until, except: [...except] })
  }

  /** Whether the records of a job must be kept, since minions may still take it. */
  static isOpen(records: StoreReader, jid: string): boolean {
    return records.has(['deliver', jid])
  }

  /** List the open jobs, and until when minions may take them. */
  list(): { readonly jid: string; readonly until: number }[] {
    return Array.from(this.#store.keys(keysUnder('deliver')), (key) => String(key[1])).flatMap((jid) => {
      const until = this.until(jid)
      return until === undefined ? [] : [{ jid, until }]
    })
  }

  /** Return until when minions may take a job, in milliseconds since 1970; undefined if none may. */
  until(jid: string): number | undefined {
    return readTerms(this.#store, jid)?.until
  }

  /** Return until when a minion may take a job, in milliseconds since 1970; undefined if it may not, or cannot. */
  untilFor(jid: string, id: string): number | undefined {
    const terms = readTerms(this.#store, jid)
    return terms?.except.includes(id) || this.state(jid, id) ? undefined : terms?.until
  }

  /** Return what became of a job on a minion; undefined if that is undecided, or the job had no `deliver_within`. */
  state(jid: string, id: string): DeliveryState | undefined {
    return readState(this.#store, jid, id)
  }

  /** Return the minions of an open job that have not taken it, and still may. */
  undecided(jid: string): string[] {
    return undecidedOf(this.#store, jid)
  }

  /**
   * Take a job for one of its minions. Resolves when that is on disk; `isNew` is true once, when the minion takes it for the first
   * time.
   */
  async take(jid: string, id: string, now: number): Promise<{ answer: TakeAnswer; isNew: boolean }> {
    return this.#store.change((records) => {
      const answer = answerTo(records, jid, id, now)
      const isNew = answer === 'delivered' && readState(records, jid, id) === undefined
      if (isNew) records.put(['delivery', jid, id], 'delivered')
      return { answer, isNew }
    })
  }

  /** Cancel a job for its undecided minions, or those of `ids` among them. */
  async cancel(jid: string, ids?: readonly string[]): Promise<Cancelled> {
    return this.#store.change((records) => {
      const wanted = ids && new Set(ids)
      const isWanted = (id: string) => !wanted || wanted.has(id)
      const cancelled = undecidedOf(records, jid).filter(isWanted)
      for (const id of cancelled) end(records, jid, id, 'cancelled')
      const minions = readJob(records, jid)?.minions ?? []
      const taken = minions.filter((id) => isWanted(id) && hasIt(records, jid, id))
      return { cancelled, taken }
    })
  }

  /** Cancel what waits for a minion. Resolves with the ids of the jobs. */
  async cancelAllOf(id: string): Promise<string[]> {
    return this.#store.change((records) => {
      const jids = Array.from(records.keys(keysUnder('deliver')), (key) => String(key[1]))
      return jids.filter((jid) => {
        if (!undecidedOf(records, jid).includes(id)) return false
        end(records, jid, id, 'cancelled')
        return true
      })
    })
  }

  /** Close a job that no minion is to take any more, or that all have taken: its undecided minions get the state. */
  async close(jid: string, state: 'expired' | 'cancelled'): Promise<void> {
    await this.#store.change((records) => {
      const ids = undecidedOf(records, jid)
      for (const id of ids) end(records, jid, id, state)
      records.remove(['deliver', jid])
    })
  }

  /** List what has become of jobs on minions and was not announced; what {@link take} changes is not listed. */
  news(): { readonly jid: string; readonly id: string; readonly state: DeliveryState }[] {
    const keys = [...this.#store.keys(keysUnder('delivery-news'))]
    return keys.flatMap(([, jid, id]) => {
      const state = readState(this.#store, String(jid), String(id))
      return state ? [{ jid: String(jid), id: String(id), state }] : []
    })
  }

  /** Record that news were announced. */
  async announced(news: readonly { readonly jid: string; readonly id: string }[]): Promise<void> {
    await this.#store.change((records) => {
      for (const { jid, id } of news) records.remove(['delivery-news', jid, id])
    })
  }
}

function end(records: StoreChange, jid: string, id: string, state: DeliveryState): void {
  records.put(['delivery', jid, id], state)
  records.put(['delivery-news', jid, id], state)
}

function answerTo(records: StoreReader, jid: string, id: string, now: number): TakeAnswer {
  if (records.has(['ret', jid, id])) return 'returned'
  const known = readState(records, jid, id)
  if (known) return known
  const terms = readTerms(records, jid)
  if (!terms) return 'unknown'
  return terms.until <= now ? 'expired' : 'delivered'
}

function undecidedOf(records: StoreReader, jid: string): string[] {
  const terms = readTerms(records, jid)
  if (!terms) return []
  const except = new Set(terms.except)
  const isDecided = (id: string) => KINDS.some((kind) => records.has([kind, jid, id]))
  return (readJob(records, jid)?.minions ?? []).filter((id) => !except.has(id) && !isDecided(id))
}

/** Records that decide whether a minion has a job. */
const KINDS = ['delivery', 'ret', 'start']

/** Whether a minion has a job that it has not returned. */
const hasIt = (records: StoreReader, jid: string, id: string): boolean =>
  !records.has(['ret', jid, id]) &&
  (records.has(['start', jid, id]) || readState(records, jid, id) === 'delivered')

function readState(records: Pick<StoreReader, 'get'>, jid: string, id: string): DeliveryState | undefined {
  const state = records.get(['delivery', jid, id])
  return state === 'delivered' || state === 'expired' || state === 'cancelled' ? state : undefined
}

function readTerms(records: Pick<StoreReader, 'get'>, jid: string): DeliveryTerms | undefined {
  const terms = records.get(['deliver', jid])
  if (!isRecord(terms) || typeof terms.until !== 'number') return undefined
  return { until: terms.until, except: Array.isArray(terms.except) ? terms.except.map(String) : [] }
}
