import { type Store, under } from '../store/index.ts'
import { IMPORTED } from './job-record.ts'

/**
 * Of which jobs it was said who did not return: `['settled']` → of all before that moment, but those under
 * `['untold', jid]`, of which it could not be said yet.
 */
export class SettledJobs {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Ids of the others that were first heard of before a moment (milliseconds). */
  open(moment: number): string[] {
    const since = Number(this.#store.get(['settled']) ?? 0)
    const due = this.#store.entries({ from: ['age', since], to: ['age', moment] })
    return [
      ...Array.from(this.#store.keys(under('untold')), (key) => String(key[1])),
      ...[...due].filter(({ value }) => value !== IMPORTED).map(({ key }) => String(key[2])),
    ]
  }

  /** It was said of all jobs before that moment, but these. */
  async note(moment: number, untold: readonly string[] = []): Promise<void> {
    await this.#store.change((records) => {
      for (const key of [...records.keys(under('untold'))]) records.remove(key)
      for (const jid of untold) records.put(['untold', jid], true)
      records.put(['settled'], moment)
    })
  }
}
