import { SaltError } from '../base/errors.ts'
import { decodeLazily, type Value } from '../codec/index.ts'
import type { Environment } from './environment.ts'
import { checkKey, type KeyRange, type StoreKey } from './key.ts'
import { seal, unseal } from './record.ts'

interface Entry {
  readonly key: StoreKey
  readonly value: Value
}

/** Reads see the last commit, of this process or another; inside a change they see what the change has done so far. */
export interface StoreReader {
  /** Undefined if there is no such record, or if it is damaged (which is reported). */
  get(key: StoreKey): Value | undefined
  /** As `get`, where few members of a large map are wanted: each is decoded when it is looked at. Not to be passed on. */
  glance(key: StoreKey): Value | undefined
  has(key: StoreKey): boolean
  /** Keys in order. Read in pages: no snapshot is held, and what changes meanwhile may or may not be seen. */
  keys(range: KeyRange, options?: { readonly reverse?: boolean }): Iterable<StoreKey>
  entries(range: KeyRange, options?: { readonly reverse?: boolean }): Iterable<Entry>
  /** How many records there are, without reading them. */
  count(range: KeyRange): number
}

/** What a change may do. It must look before it writes: what it wrote before it throws stays. */
export interface StoreChange extends StoreReader {
  put(key: StoreKey, value: unknown): void
  remove(key: StoreKey): void
}

/** Keys that are read at once: few at first, since often only the first is wanted. */
const FIRST_PAGE = 8
const PAGE = 128

/** Records by their keys, in the environment that is the right one at each moment. */
export function recordsOf(
  environment: () => Environment,
  path: string,
  onDamage: (error: SaltError) => void,
): StoreChange {
  function get(key: StoreKey, decoder?: typeof decodeLazily): Value | undefined {
    const record = environment().get([...key])
    if (record === undefined) return undefined
    const opened = unseal(record, decoder)
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
      const value = get(key)
      if (value !== undefined) yield { key, value }
    }
  }

  return {
    get: (key) => get(key),
    glance: (key) => get(key, decodeLazily),
    has: (key) => environment().doesExist([...key]),
    keys,
    entries,
    count: ({ from, to }) => environment().getKeysCount({ start: [...from], end: [...to] }),
    put(key, value) {
      checkKey(key)
      environment().putSync([...key], seal(value))
    },
    remove: (key) => void environment().removeSync([...key]),
  }
}

/** lmdb gives a key of one part back without its array. */
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
