import { keysUnder, type Store } from '../store/index.ts'
import { IMPORTED } from './job-record.ts'

/**
 * Records which jobs had their missing returns reported. `['settled']` → a time: all jobs before it are done, except those under
 * `['untold', jid]`, which could not be reported yet.
 */
export class SettledJobs {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Return the ids of the jobs that were first recorded before `moment` (milliseconds) and are not reported. */
  open(moment: number): string[] {
    const since = Number(this.#store.get(['settled']) ?? 0)
    const due = this.#store.entries({ from: ['age', since], to: ['age', moment] })
    return [
      ...Array.from(this.#store.keys(keysUnder('untold')), (key) => String(key[1])),
      ...[...due].filter(({ value }) => value !== IMPORTED).map(({ key }) => String(key[2])),
    ]
  }

  /** Record that all jobs before `moment` (milliseconds) were reported, except `unreported`. */
  async note(moment: number, unreported: readonly string[] = []): Promise<void> {
    await this.#store.change((records) => {
      for (const key of [...records.keys(keysUnder('untold'))]) records.remove(key)
      for (const jid of unreported) records.put(['untold', jid], true)
      records.put(['settled'], moment)
    })
  }
}
