import { join } from 'node:path'
import { isRecord } from '../base/record.ts'
import { keysUnder, openStore, type Store, type StoreOptions, type StoreReader } from '../store/index.ts'
import type { MineValue } from '../wire/mine.ts'

/** What a minion has sent for a name in its mine. */
export interface MineEntry extends MineValue {
  /** When it was stored, in milliseconds since 1970. */
  readonly at: number
}

/**
 * The values that minions share with each other (Salt's mine): `['mine', id, name]` → entry. Several processes may have the store open.
 */
export class Mine {
  readonly #store: Store

  /** Return the path of the file in `directory`. */
  static path(directory: string): string {
    return join(directory, 'mine.mdb')
  }

  /** Open the store in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): Mine {
    return new Mine(openStore(Mine.path(directory), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /** Store entries of a minion. With `clear` it keeps no others. */
  async put(id: string, entries: ReadonlyMap<string, MineEntry>, clear = false): Promise<void> {
    await this.#store.change((records) => {
      for (const name of clear ? namesIn(records, id) : [])
        if (!entries.has(name)) records.remove(['mine', id, name])
      for (const [name, entry] of entries) records.put(['mine', id, name], { ...entry })
    })
  }

  get(id: string, name: string): MineEntry | undefined {
    const entry = this.#store.get(['mine', id, name])
    return isRecord(entry) && typeof entry.at === 'number' ? (entry as unknown as MineEntry) : undefined
  }

  /** Return the names in the mine of a minion, sorted. */
  names(id: string): string[] {
    return namesIn(this.#store, id)
  }

  /** Return the ids of the minions that have entries, sorted. */
  ids(): string[] {
    return [...new Set(Array.from(this.#store.keys(keysUnder('mine')), (key) => String(key[1])))]
  }

  /** Remove entries of a minion, by default all. Resolves with the number of removed entries. */
  remove(id: string, names?: readonly string[]): Promise<number> {
    return this.#store.change((records) => {
      const there = new Set(namesIn(records, id))
      const gone = [...(names ?? there)].filter((name) => there.has(name))
      for (const name of gone) records.remove(['mine', id, name])
      return gone.length
    })
  }

  /** Remove the entries of minions that are not known. */
  async keep(isKnown: (id: string) => boolean): Promise<void> {
    for (const id of this.ids()) if (!isKnown(id)) await this.remove(id)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

const namesIn = (records: Pick<StoreReader, 'keys'>, id: string): string[] =>
  Array.from(records.keys(keysUnder('mine', id)), (key) => String(key[2]))

/** Functions that one request may ask for: each is looked up for each minion. */
const MAX_NAMES = 1_000

/**
 * Return what these minions have for functions, as `mine.get` returns it: of one name, id → value; of several (text with commas, or a
 * list), name → id → value.
 */
export function mineOf(
  mine: Pick<Mine, 'get'>,
  ids: readonly string[],
  fun: unknown,
  isAllowed: (name: string, entry: MineEntry) => boolean,
): Record<string, unknown> {
  const names = [...new Set(typeof fun === 'string' ? fun.split(',') : textsIn(fun))]
  if (names.length > MAX_NAMES) throw new Error(`More than ${MAX_NAMES} functions are asked for at once`)
  const found = names.map((name) => {
    const entries = ids.flatMap((id) => {
      const entry = mine.get(id, name)
      return entry && isAllowed(name, entry) ? [[id, entry.value] as const] : []
    })
    return [name, Object.fromEntries(entries)] as const
  })
  const [only] = found
  if (typeof fun === 'string' && found.length === 1 && only) return only[1]
  return Object.fromEntries(found.filter(([, values]) => Object.keys(values).length > 0))
}

const textsIn = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((name) => typeof name === 'string') : []
