import { join } from 'node:path'
import { keysUnder, openStore, type Store, type StoreOptions } from '../store/index.ts'
import type { MinionStart } from '../wire/minion-start.ts'

/** A run of a minion that its master allowed to take jobs. */
export interface KnownStart extends MinionStart {
  /** Time at which it was allowed, in milliseconds since 1970. */
  readonly at: number
}

/** Number of runs that are kept for each minion. */
const MAX_STARTS = 4

/**
 * The latest runs of each salt-ts minion, as it reported them: `['start', id]` → runs, the newest last. Several processes may have
 * the store open.
 */
export class MinionStarts {
  readonly #store: Store

  /** Return the path of the file in `directory`. */
  static path(directory: string): string {
    return join(directory, 'starts.mdb')
  }

  /** Open the store in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): MinionStarts {
    return new MinionStarts(openStore(MinionStarts.path(directory), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /** Add a run. If it is already stored, its time is kept. */
  async save(id: string, start: MinionStart, at: number): Promise<void> {
    if (this.of(id).some(({ token }) => token === start.token)) return
    await this.#store.change((records) => {
      const before = (records.get(['start', id]) ?? []) as unknown as KnownStart[]
      records.put(['start', id], [...before, { ...start, at }].slice(-MAX_STARTS))
    })
  }

  of(id: string): readonly KnownStart[] {
    return (this.#store.get(['start', id]) ?? []) as unknown as KnownStart[]
  }

  /** Remove the runs of minions that are not among these. */
  async keep(ids: ReadonlySet<string>): Promise<void> {
    const gone = Array.from(this.#store.keys(keysUnder('start')), (key) => String(key[1])).filter(
      (id) => !ids.has(id),
    )
    for (const id of gone) await this.#store.remove(['start', id])
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}
