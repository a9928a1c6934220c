import { SaltError } from '../base/errors.ts'
import { decode, decodeLazily, Encoded } from '../codec/index.ts'
import type { Entry, StoreChange } from './contract.ts'
import type { Environment } from './environment.ts'
import { checkKey, type KeyRange, type StoreKey } from './key.ts'
import { withChecksum, withoutChecksum } from './record.ts'

/** Keys that are read at once: few at first, since often only the first is needed. */
const FIRST_PAGE = 8
const PAGE = 128

/** Return the operations on records. `environment` returns the current environment. */
export function recordsOf(
  environment: () => Environment,
  path: string,
  onDamage: (error: SaltError) => void,
): StoreChange {
  function get<T>(key: StoreKey, read: (bytes: Uint8Array) => T): T | undefined {
    const record = environment().get([...key])
    if (record === undefined) return undefined
    const opened = withoutChecksum(record, read)
    if (!opened) onDamage(damagedRecord(path, key))
    return opened?.value
  }

  function* keys({ from, to }: KeyRange, { reverse = false } = {}): Generator<StoreKey> {
    let last: StoreKey | undefined
    for (let limit = FIRST_PAGE; ; limit = PAGE) {
      const range = reverse
        ? { start: [...(last ?? to)], exclusiveStart: true, end: [...from], inclusiveEnd: true }
        : { start: [...(last ?? from)], exclusiveStart: last !== undefined, end: [...to] }
      const page = [...environment().getKeys({ ...range, reverse, limit })].map(asKey)
      yield* page
      if (page.length < limit) return
      last = page.at(-1)
    }
  }

  function* entries(range: KeyRange, options?: { reverse?: boolean }): Generator<Entry> {
    for (const key of keys(range, options)) {
      const value = get(key, decode)
      if (value !== undefined) yield { key, value }
    }
  }

  return {
    get: (key) => get(key, decode),
    getLazy: (key) => get(key, decodeLazily),
    getEncoded: (key) => get(key, (bytes) => new Encoded(bytes)),
    has: (key) => environment().doesExist([...key]),
    keys,
    entries,
    count: ({ from, to }) => environment().getKeysCount({ start: [...from], end: [...to] }),
    put(key, value) {
      checkKey(key)
      environment().putSync([...key], withChecksum(value))
    },
    remove: (key) => void environment().removeSync([...key]),
  }
}

/** Return a key as an array; lmdb returns a key of one part without it. */
function asKey(key: StoreKey | string | number): StoreKey {
  return typeof key === 'object' ? key : [key]
}

function damagedRecord(path: string, key: StoreKey): SaltError {
  return new SaltError(
    'STORE_FAILED',
    `The record ${JSON.stringify(key)} of the store ${path} is damaged and was left out.`,
    { path, key },
  )
}
