import { join } from 'node:path'
import { openStore, type Store, type StoreChange, type StoreOptions, under } from '../store/index.ts'
import type { CatalogueReport } from '../wire/catalogue.ts'

/**
 * What minions offer: one copy of each catalogue, however many have it. Keys: `['hash', id]` → hash,
 * `['catalogue', hash]` → text, `['users', hash]` → how many minions have it, `['asked', id]` → when a Python
 * minion was asked what it offers. Several processes may have it open.
 */
export class Catalogues {
  readonly #store: Store

  /** The file inside `directory`. */
  static path(directory: string): string {
    return join(directory, 'catalogues.mdb')
  }

  /** @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): Catalogues {
    return new Catalogues(openStore(Catalogues.path(directory), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /** True if the catalogue is known, now. The minion has it from now on, or none if it is unknown; without its text one that is not known changes nothing. */
  async save(id: string, { hash, text }: CatalogueReport): Promise<boolean> {
    if (hash === undefined) return this.#forget(id)
    const before = this.hash(id)
    if (before === hash && this.#store.has(['catalogue', hash])) return true
    if (text === undefined && !this.#store.has(['catalogue', hash])) return false
    return this.#store.change((records) => {
      leave(records, id, hash)
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
    if (this.hash(id) !== undefined) await this.#store.change((records) => leave(records, id))
    return true
  }

  /** Of the catalogue of a minion; undefined if it has reported none. */
  hash(id: string): string | undefined {
    const hash = this.#store.get(['hash', id])
    return typeof hash === 'string' ? hash : undefined
  }

  /** The text of a catalogue. */
  text(hash: string): string | undefined {
    const text = this.#store.get(['catalogue', hash])
    return typeof text === 'string' ? text : undefined
  }

  /** Those that were not asked since `moment`; they count as asked from now on. */
  async ask(ids: readonly string[], now: number, moment: number): Promise<string[]> {
    const due = ids.filter((id) => !(Number(this.#store.get(['asked', id]) ?? 0) > moment))
    if (due.length === 0) return []
    return this.#store.change((records) => {
      const still = due.filter((id) => !(Number(records.get(['asked', id]) ?? 0) > moment))
      for (const id of still) records.put(['asked', id], now)
      return still
    })
  }

  /** When a Python minion was asked last, milliseconds; undefined for one that never was. */
  asked(id: string): number | undefined {
    const at = this.#store.get(['asked', id])
    return typeof at === 'number' ? at : undefined
  }

  /** A minion was started: what it said before may be no longer true. */
  async askAgain(id: string): Promise<void> {
    if (this.asked(id)) await this.#store.put(['asked', id], 0)
  }

  /** The minion is gone. */
  async remove(id: string): Promise<void> {
    if (
      ![
        ['hash', id],
        ['asked', id],
      ].some((key) => this.#store.has(key))
    )
      return
    await this.#store.change((records) => {
      leave(records, id)
      records.remove(['asked', id])
    })
  }

  /** Forget minions that are not among these. */
  async keep(ids: ReadonlySet<string>): Promise<void> {
    const kinds = ['hash', 'asked']
    const known = kinds.flatMap((kind) => Array.from(this.#store.keys(under(kind)), (key) => String(key[1])))
    for (const id of new Set(known)) if (!ids.has(id)) await this.remove(id)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

/** A catalogue that nobody has any more goes, unless it is the one that is wanted next. */
function leave(records: StoreChange, id: string, next?: string): void {
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
