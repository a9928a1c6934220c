import type { Clock } from '../base/clock.ts'
import { type Store, type StoreChange, type StoreReader, under } from '../store/index.ts'
import { type Fields, isFields } from './records.ts'

/** Processes of one host look at one clock, not at the same moment. Milliseconds. */
const AHEAD_MS = 60_000

interface UnannouncedReturn {
  readonly jid: string
  readonly id: string
  readonly ret: Fields
}

/** Returns whose event is due: `['unannounced', jid, id]` → since when. */
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

  /** Its event has been fired. */
  remove(jid: string, id: string): Promise<void> {
    return this.#store.remove(['unannounced', jid, id])
  }

  /**
   * One that was stored before `moment` (milliseconds) and not announced since: who stored it has died over it. It is
   * the caller's for as long as a moment is ago; others are given another one.
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

/** Of a time that has not come the clock was wrong: what is of then would wait until it comes. */
function firstDue(records: StoreReader, moment: number, now: number): UnannouncedReturn | undefined {
  for (const { key, value } of records.entries(under('unannounced'))) {
    const [jid, id] = [String(key[1]), String(key[2])]
    const isDue = Number(value) < moment || Number(value) > now + AHEAD_MS
    const ret = isDue ? records.get(['ret', jid, id]) : undefined
    if (isFields(ret)) return { jid, id, ret }
  }
  return undefined
}
