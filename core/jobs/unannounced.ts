import type { Clock } from '../base/clock.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { keysUnder, type Store, type StoreChange, type StoreReader } from '../store/index.ts'

/** A time further ahead than this comes from a wrong clock. Smaller differences occur between processes of one host. */
const AHEAD_MS = 60_000

interface UnannouncedReturn {
  readonly jid: string
  readonly id: string
  readonly ret: Fields
}

/** Returns whose event has not been fired: `['unannounced', jid, id]` → the time it was added. */
export class Unannounced {
  readonly #store: Store
  readonly #clock: Clock

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  static put(records: StoreChange, jid: string, id: string, now: number): void {
    records.put(['unannounced', jid, id], now)
  }

  /** Record that the event of a return has been fired. */
  remove(jid: string, id: string): Promise<void> {
    return this.#store.remove(['unannounced', jid, id])
  }

  /**
   * Take a return that was stored before `moment` (milliseconds) and not announced since, because the process that stored it has
   * ended. Its time is set to now, so that other callers get it only once the new time is before their `moment`.
   */
  async take(moment: number): Promise<UnannouncedReturn | undefined> {
    const now = this.#clock.now()
    if (!firstDue(this.#store, moment, now)) return undefined
    return this.#store.change((records) => {
      const found = firstDue(records, moment, now)
      if (found) Unannounced.put(records, found.jid, found.id, now)
      return found
    })
  }
}

/** Find the first return that is due. One without a time, or with one in the future, from a wrong clock, is due at once. */
function firstDue(records: StoreReader, moment: number, now: number): UnannouncedReturn | undefined {
  for (const { key, value } of records.entries(keysUnder('unannounced'))) {
    const [jid, id] = [String(key[1]), String(key[2])]
    const isDue = typeof value !== 'number' || value < moment || value > now + AHEAD_MS
    const ret = isDue ? records.get(['ret', jid, id]) : undefined
    if (isRecord(ret)) return { jid, id, ret }
  }
  return undefined
}
