import { join } from 'node:path'
import { openStore, type Store, type StoreOptions } from '../store/index.ts'

/** Which syndic has last spoken for each minion below it: `['below', id]` → the id of the syndic. Several processes may have the store open. */
export class MinionsBelow {
  readonly #store: Store

  /** Return the path of the file in `directory`. */
  static path(directory: string): string {
    return join(directory, 'below.mdb')
  }

  /** Open the store in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): MinionsBelow {
    return new MinionsBelow(openStore(MinionsBelow.path(directory), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /** Return the syndic above a minion; undefined if none has spoken for it. */
  syndicOf(id: string): string | undefined {
    const syndic = this.#store.get(['below', id])
    return typeof syndic === 'string' ? syndic : undefined
  }

  /** Resolves with those for which another syndic spoke before. */
  async save(syndic: string, ids: readonly string[]): Promise<string[]> {
    const changed = ids.filter((id) => this.syndicOf(id) !== syndic)
    if (changed.length === 0) return []
    const others = changed.filter((id) => this.syndicOf(id) !== undefined)
    await this.#store.change((records) => {
      for (const id of changed) records.put(['below', id], syndic)
    })
    return others
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}
