import type { Encoded, Value } from '../codec/index.ts'
import type { KeyRange, StoreKey } from './key.ts'

export interface Entry {
  readonly key: StoreKey
  readonly value: Value
}

/** Reads see the last commit, of this process or another; inside a change they see what the change has done so far. */
export interface StoreReader {
  /** Undefined if there is no such record, or if it is damaged (which is reported). */
  get(key: StoreKey): Value | undefined
  /** As `get`, where few members of a large map are wanted: each is decoded when it is looked at. Not to be passed on. */
  glance(key: StoreKey): Value | undefined
  /** As `get`, as the value was encoded: for large ones that go elsewhere as they are. */
  encoded(key: StoreKey): Encoded | undefined
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
