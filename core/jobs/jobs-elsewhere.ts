import { keysUnder, type Store, type StoreChange, type StoreReader } from '../store/index.ts'
import { type MissedJob, makeMissedJob, readMissedJob } from '../wire/missed-jobs.ts'
import type { WaitingFor } from './deliveries.ts'

/** A job that another master of a cluster has published, and that waits for minions. */
export interface JobElsewhere {
  readonly missed: MissedJob
  /** Time at which it was stored, in milliseconds since 1970. */
  readonly at: number
  /** Time until which minions may take it, in milliseconds since 1970. */
  readonly untilMs: number
  readonly takers: readonly string[]
  /**
   * The minions that took it from another master than the one that published it. The publishing master removes them once it has
   * recorded them.
   */
  readonly taken: readonly string[]
}

type Terms = Omit<JobElsewhere, 'missed'>

/**
 * Jobs that wait for minions and were published by other masters of a cluster, so that minions can take them while these masters
 * are down. Keys: `['elsewhere', jid]` → {@link MissedJob}, `['elsewhere-terms', jid]`, and for each minion that may still take
 * it `['elsewhere-taker', id, jid]` → when the job was stored.
 */
export class JobsElsewhere {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async keep(jid: string, { missed, ...terms }: JobElsewhere): Promise<void> {
    await this.#store.change((records) => {
      remove(records, jid)
      records.put(['elsewhere', jid], makeMissedJob(missed))
      records.put(['elsewhere-terms', jid], { ...terms })
      const taken = new Set(terms.taken)
      for (const id of terms.takers) if (!taken.has(id)) records.put(['elsewhere-taker', id, jid], terms.at)
    })
  }

  get(jid: string): JobElsewhere | undefined {
    const [terms, missed] = [termsOf(this.#store, jid), readMissedJob(this.#store.get(['elsewhere', jid]))]
    return terms && missed && { ...terms, missed }
  }

  /** List the jobs, with the number of the minions that took them and until when they can be taken. */
  list(): { readonly jid: string; readonly taken: number; readonly untilMs: number }[] {
    return Array.from(this.#store.entries(keysUnder('elsewhere-terms')), ({ key, value }) => {
      const { taken, untilMs } = value as unknown as Terms
      return { jid: String(key[1]), taken: taken.length, untilMs }
    })
  }

  /** List the jobs that wait for a minion. */
  waitingFor(id: string): WaitingFor[] {
    const entries = this.#store.entries(keysUnder('elsewhere-taker', id))
    return Array.from(entries, ({ key, value }) => ({ jid: String(key[2]), at: Number(value) }))
  }

  /**
   * Take a job for a minion. Resolves when that is on disk. `has` tells whether the minion has the job; `isNew` is true for its
   * first request only.
   */
  async take(
    jid: string,
    id: string,
    now: number,
  ): Promise<{ readonly has: boolean; readonly isNew: boolean }> {
    return this.#store.change((records) => {
      const terms = termsOf(records, jid)
      if (terms?.taken.includes(id)) return { has: true, isNew: false }
      if (!terms || terms.untilMs <= now || !records.has(['elsewhere-taker', id, jid]))
        return { has: false, isNew: false }
      records.put(['elsewhere-terms', jid], { ...terms, taken: [...terms.taken, id] })
      records.remove(['elsewhere-taker', id, jid])
      return { has: true, isNew: true }
    })
  }

  async remove(jid: string): Promise<void> {
    await this.#store.change((records) => remove(records, jid))
  }
}

const termsOf = (records: Pick<StoreReader, 'get'>, jid: string): Terms | undefined =>
  records.get(['elsewhere-terms', jid]) as unknown as Terms | undefined

function remove(records: StoreChange, jid: string): void {
  for (const id of termsOf(records, jid)?.takers ?? []) records.remove(['elsewhere-taker', id, jid])
  records.remove(['elsewhere-terms', jid])
  records.remove(['elsewhere', jid])
}
