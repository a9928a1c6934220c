import { join } from 'node:path'
import { keysUnder, openStore, type Store, type StoreChange, type StoreOptions } from '../store/index.ts'
import type { CatalogueReport } from '../wire/catalogue.ts'

/**
 * Catalogues of the functions of minions. Minions with equal catalogues share one copy. Keys: `['hash', id]` → hash,
 * `['catalogue', hash]` → text, `['users', hash]` → number of minions that have it, `['asked', id]` → time at which a
 * Python minion was last asked for its functions. Several processes may have it open.
 */
export class Catalogues {
  readonly #store: Store

  /** Return the path of the file in `directory`. */
  static path(directory: string): string {
    return join(directory, 'catalogues.mdb')
  }

  /** Open the store in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): Catalogues {
    return new Catalogues(openStore(Catalogues.path(directory), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /**
   * Assign a catalogue to a minion; a report without a hash removes the assignment. Resolves with true if the catalogue is stored,
   * with false, without a change, if its text is needed.
   */
  async save(id: string, { hash, text }: CatalogueReport): Promise<boolean> {
    if (hash === undefined) return this.#forget(id)
    const before = this.hash(id)
    if (before === hash && this.#store.has(['catalogue', hash])) return true
    if (text === undefined && !this.#store.has(['catalogue', hash])) return false
    return this.#store.change((records) => {
      unassign(records, id, hash)
      if (!records.has(['catalogue', hash])) {
        if (text === undefined) return false
        records.put(['catalogue', hash], text)
      }
      records.put(['users', hash], users(records, hash) + 1)
      records.put(['hash', id], hash)
      return true
    })
  }

  async #forget(id: string): Promise<true> {
    if (this.hash(id) !== undefined) await this.#store.change((records) => unassign(records, id))
    return true
  }

  /** Return the hash of the catalogue of a minion; undefined if it has reported none. */
  hash(id: string): string | undefined {
    const hash = this.#store.get(['hash', id])
    return typeof hash === 'string' ? hash : undefined
  }

  /** Return the text of a catalogue. */
  text(hash: string): string | undefined {
    const text = this.#store.get(['catalogue', hash])
    return typeof text === 'string' ? text : undefined
  }

  /** Return the ids not asked since `moment`, and mark them as asked at `now`. Times in milliseconds. */
  async ask(ids: readonly string[], now: number, moment: number): Promise<string[]> {
    const due = ids.filter((id) => !(Number(this.#store.get(['asked', id]) ?? 0) > moment))
    if (due.length === 0) return []
    return this.#store.change((records) => {
      const still = due.filter((id) => !(Number(records.get(['asked', id]) ?? 0) > moment))
      for (const id of still) records.put(['asked', id], now)
      return still
    })
  }

  /** Return the time at which a Python minion was last asked, in milliseconds; undefined if it never was. */
  asked(id: string): number | undefined {
    const at = this.#store.get(['asked', id])
    return typeof at === 'number' ? at : undefined
  }

  /** Let a minion be asked again after it was started, since its functions may have changed. */
  async askAgain(id: string): Promise<void> {
    if (this.asked(id)) await this.#store.put(['asked', id], 0)
  }

  /** Remove all records of a minion. */
  async remove(id: string): Promise<void> {
    if (
      ![
        ['hash', id],
        ['asked', id],
      ].some((key) => this.#store.has(key))
    )
      return
    await this.#store.change((records) => {
      unassign(records, id)
      records.remove(['asked', id])
    })
  }

  /** Remove the records of minions that are not known. */
  async keep(isKnown: (id: string) => boolean): Promise<void> {
    const kinds = ['hash', 'asked']
    const known = kinds.flatMap((kind) =>
      Array.from(this.#store.keys(keysUnder(kind)), (key) => String(key[1])),
    )
    for (const id of new Set(known)) if (!isKnown(id)) await this.remove(id)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

/** Remove the assignment of a minion, and its catalogue if no other minion has it and it is not the `next` one. */
function unassign(records: StoreChange, id: string, next?: string): void {
  const hash = records.get(['hash', id])
  if (typeof hash !== 'string') return
  records.remove(['hash', id])
  const left = users(records, hash) - 1
  records.put(['users', hash], left)
  if (left > 0 || hash === next) return
  records.remove(['users', hash])
  records.remove(['catalogue', hash])
}

function users(records: Pick<StoreChange, 'get'>, hash: string): number {
  const count = records.get(['users', hash])
  return typeof count === 'number' ? count : 0
}
