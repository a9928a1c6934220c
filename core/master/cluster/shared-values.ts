import type { Returner, SharedValue } from '../../author/returner.ts'
import { isRecord } from '../../base/record.ts'
import { decode, encodeLocal } from '../../codec/index.ts'
import { type PrivateKey, SymmetricKey } from '../../crypto/index.ts'

/** A store that has the functions for values of a cluster. */
export type SharedStore = Required<Pick<Returner, 'sharedSince' | 'putShared'>>

/** A value that a master of the cluster has set. */
export interface Versioned {
  /** Number of changes of the value so far, from 1, as the master that set it knew them. */
  readonly version: number
  /** Undefined if the value was removed. */
  readonly value: unknown
}

/** What the store has of a key. */
export interface StoredValue extends Pick<SharedValue, 'key' | 'revision'> {
  /** Undefined if no master with the key of this one has set it. */
  readonly opened: Versioned | undefined
}

/**
 * The values that the masters of a cluster share. The store is trusted with nothing: values are encrypted and authenticated, each with
 * its key and its version, with a key that is derived from the key of the masters. So a master that has a version takes no earlier
 * one for the present.
 */
export class SharedValues {
  readonly #store: SharedStore
  readonly #cluster: string
  readonly #sealing: SymmetricKey

  constructor(store: SharedStore, cluster: string, masterKey: PrivateKey) {
    this.#store = store
    this.#cluster = cluster
    this.#sealing = SymmetricKey.derive(masterKey.pem, `salt-ts cluster ${cluster}`)
  }

  /** Return the values that the store was given after a revision, in that order, at most `limit`. Those with a revision that is no number are left out. */
  async since(revision: number, limit: number): Promise<StoredValue[]> {
    const found = await this.#store.sharedSince(this.#cluster, revision, limit)
    const usable = found.filter(({ revision }) => Number.isSafeInteger(revision))
    return usable.map(({ key, value, revision }) => ({ key, revision, opened: this.#open(key, value) }))
  }

  /** Set a value if its revision in the store is `expected`. Resolves with the new one; undefined if it had another. */
  put(key: string, { version, value }: Versioned, expected: number): Promise<number | undefined> {
    const sealed = this.#sealing.encrypt(encodeLocal({ key, version, value: value ?? null }))
    return this.#store.putShared(this.#cluster, key, sealed, expected)
  }

  #open(key: string, sealed: Uint8Array): Versioned | undefined {
    const message = this.#sealing.decrypt(sealed)
    const opened = message && decode(message)
    if (!isRecord(opened) || opened.key !== key || !Number.isSafeInteger(opened.version)) return undefined
    return { version: opened.version as number, value: opened.value ?? undefined }
  }
}
