import type { Encoded, Value } from '../codec/index.ts'
import type { KeyRange, StoreKey } from './key.ts'

export interface Entry {
  readonly key: StoreKey
  readonly value: Value
}

/** Read access. Reads return the state of the last commit of any process; inside a change, that with its own writes. */
export interface StoreReader {
  /** Return a value; undefined if there is no such record, or if it is damaged (which is reported). */
  get(key: StoreKey): Value | undefined
  /** Return a large map whose members are decoded when they are read, for callers that need few of them. Do not pass it on. */
  getLazy(key: StoreKey): Value | undefined
  /** Return a value in encoded form, to pass on large values unchanged. */
  getEncoded(key: StoreKey): Encoded | undefined
  has(key: StoreKey): boolean
  /**
   * Yield the keys in order. They are read in pages without a snapshot, so concurrent changes may or may not be
   * included.
   */
  keys(range: KeyRange, options?: { readonly reverse?: boolean }): Iterable<StoreKey>
  entries(range: KeyRange, options?: { readonly reverse?: boolean }): Iterable<Entry>
  /** Return the number of records, without reading them. */
  count(range: KeyRange): number
}

/** The operations of a change. A change must not throw after it has written: these writes stay. */
export interface StoreChange extends StoreReader {
  put(key: StoreKey, value: unknown): void
  remove(key: StoreKey): void
}
