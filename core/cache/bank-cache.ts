import { join } from 'node:path'
import { SaltError } from '../base/errors.ts'
import {
  keysUnder,
  openStore,
  type Store,
  type StoreKey,
  type StoreOptions,
  type StoreReader,
} from '../store/index.ts'

/** Key of a record: `['bank', part, …, key]`, with the parts of the bank's name. */
type Place = ['bank', ...string[]]

/** Values by bank and key (Salt's data cache). Names of banks are paths. */
export class BankCache {
  readonly #store: Store

  /** Open the cache in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): BankCache {
    return new BankCache(openStore(join(directory, 'banks.mdb'), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /** Return the names in a bank, sorted. */
  list(bank: string): string[] {
    const place = placeOf(bank)
    const names = new Set<string>()
    for (const key of below(this.#store, place)) names.add(String(key[place.length]))
    return [...names]
  }

  fetch(bank: string, key: string): unknown {
    return this.#store.get(placeOf(bank, key))
  }

  store(bank: string, key: string, data: unknown): Promise<void> {
    return this.#store.put(placeOf(bank, key), data)
  }

  /** Remove a key, or without one the bank with everything below it. Resolves with false if there was nothing. */
  flush(bank: string, key?: string): Promise<boolean> {
    const place = placeOf(bank, key)
    return this.#store.change((records) => {
      const found = key === undefined ? [...below(records, place)] : records.has(place) ? [place] : []
      for (const one of found) records.remove(one)
      return found.length > 0
    })
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

/** List the keys below a bank, without the record of the same name in its parent bank. */
function* below(records: StoreReader, place: Place): Generator<StoreKey> {
  for (const key of records.keys(keysUnder(...place))) if (key.length > place.length) yield key
}

/** Return the key of a record, or of a bank. @throws SaltError INVALID_ARGUMENTS */
function placeOf(bank: string, key?: string): Place {
  const parts = [...bank.split('/'), ...(key === undefined ? [] : [key])]
  if (parts.every((part) => part !== '') && bank.length < 500) return ['bank', ...parts]
  throw new SaltError(
    'INVALID_ARGUMENTS',
    `${JSON.stringify(key === undefined ? bank : `${bank} ${key}`)} is invalid: a bank has a name like minions/web1, and neither its parts nor the key may be empty.`,
  )
}
