import { randomBytes } from 'node:crypto'
import type { Returner, SharedValue } from '../../author/returner.ts'
import { isRecord } from '../../base/record.ts'
import { decode, encodeLocal } from '../../codec/index.ts'
import { type PrivateKey, SymmetricKey } from '../../crypto/index.ts'

/** A store that has the functions for values of a cluster. */
export type SharedStore = Required<Pick<Returner, 'sharedSince' | 'putShared'>>

/** A value as the masters see it: undefined if it was removed, or is not one that a master of the cluster has set. */
export interface OpenedValue extends Pick<SharedValue, 'key' | 'revision'> {
  readonly value: unknown
  readonly isGenuine: boolean
  /** The revision that the value replaced. One of a revision before that which is known was put back by somebody else. */
  readonly after: number
}

/** The key of the first value of all, a random text. If it changes, the store has lost its values. */
const EPOCH = 'epoch'
const EPOCH_BYTES = 12

/**
 * The values that the masters of a cluster share. The store is trusted with nothing: they are encrypted and authenticated, each for
 * its key and for the epoch of the store, with a key that is derived from the key of the masters.
 */
export class SharedValues {
  readonly #store: SharedStore
  readonly #cluster: string
  readonly #sealing: SymmetricKey
  #epoch = ''

  constructor(store: SharedStore, cluster: string, masterKey: PrivateKey) {
    this.#store = store
    this.#cluster = cluster
    this.#sealing = SymmetricKey.derive(masterKey.pem, `salt-ts cluster ${cluster}`)
  }

  /**
   * Return the epoch of the store; begin one in an empty store. The other methods use the one that was returned last. Rejects if the
   * store has values, but not of a master with this key.
   */
  async epoch(): Promise<string> {
    this.#epoch = ''
    let [first] = await this.since(0, 1)
    if (!first) {
      await this.put(EPOCH, randomBytes(EPOCH_BYTES).toString('base64url'), 0)
      first = (await this.since(0, 1))[0]
    }
    if (first?.key !== EPOCH || !first.isGenuine || typeof first.value !== 'string')
      throw new Error(
        `the store has values for the cluster ${this.#cluster} that no master with the key of this one has set. Give the masters the same key, or another cluster_id`,
      )
    this.#epoch = first.value
    return this.#epoch
  }

  /** Return the values that were changed after a revision. */
  async since(revision: number, limit: number): Promise<OpenedValue[]> {
    const found = await this.#store.sharedSince(this.#cluster, revision, limit)
    return found.map(({ key, value, revision }) => ({ key, revision, ...this.#open(key, value) }))
  }

  /** Set a value, or with undefined remove it, if its revision is `expected`. Resolves with the new one; undefined if it had another. */
  put(key: string, value: unknown, expected: number): Promise<number | undefined> {
    const sealed = this.#sealing.encrypt(
      encodeLocal({ key, epoch: this.#epoch, after: expected, value: value ?? null }),
    )
    return this.#store.putShared(this.#cluster, key, sealed, expected)
  }

  #open(key: string, sealed: Uint8Array): Pick<OpenedValue, 'value' | 'isGenuine' | 'after'> {
    const message = this.#sealing.decrypt(sealed)
    const opened = message && decode(message)
    if (!isRecord(opened) || opened.key !== key || opened.epoch !== this.#epoch)
      return { value: undefined, isGenuine: false, after: 0 }
    return { value: opened.value ?? undefined, isGenuine: true, after: Number(opened.after) }
  }
}
