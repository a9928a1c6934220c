import { type Returner, type SharedValue, UnsavableError } from '../../author/returner.ts'
import { sizeText } from '../../base/byte-size.ts'
import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { decode, encodeLocal } from '../../codec/index.ts'
import { type PrivateKey, SymmetricKey } from '../../crypto/index.ts'
import { asNumber } from '../../wire/bytes.ts'
import { readVersion, type Version } from './version.ts'

/** A store that has the functions for values of a cluster. */
export type SharedStore = Required<Pick<Returner, 'sharedSince' | 'putShared'>> &
  Pick<Returner, 'removeShared'>

/** A value that a master of the cluster has set. */
export interface Versioned {
  readonly version: Version
  /** Undefined if the value was removed. */
  readonly value: unknown
  /** Time at which it expires, in milliseconds since 1970; never if it is undefined. */
  readonly overAt?: number
}

/** A value as it is in the store. */
export interface StoredValue extends Pick<SharedValue, 'key' | 'revision'> {
  /** Undefined if no master with the key of this one has set it. */
  readonly opened: Versioned | undefined
}

/**
 * The values that the masters of a cluster share. The store is not trusted: each value is encrypted and authenticated together
 * with its key and version, by a key that is derived from the key of the masters. So no master takes an older version for the
 * current one.
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

  /**
   * Return the values that were stored after a revision, in the order of their revisions; at least `limit` if there are that
   * many. Rejects with STORE_FAILED.
   */
  async since(revision: number, limit: number): Promise<StoredValue[]> {
    const found = await this.#store.sharedSince(this.#cluster, revision, limit)
    return found.map(({ key, value, revision }) => ({
      key,
      revision: checked(revision, ` for ${key}`),
      opened: this.#open(key, value),
    }))
  }

  /**
   * Set a value if its revision in the store is `expected`. Resolves with the new revision; with undefined if the store had
   * another one. Rejects with STORE_FAILED, or with UnsavableError if it is too long.
   */
  async put(key: string, { value, ...about }: Versioned, expected: number): Promise<number | undefined> {
    const sealed = this.#sealing.encrypt(encodeLocal({ key, ...about, value: value ?? null }))
    if (sealed.length > MAX_BYTES)
      throw new UnsavableError(
        `it has ${sizeText(sealed.length)}, and at most ${sizeText(MAX_BYTES)} are exchanged`,
      )
    const revision = await this.#store.putShared(this.#cluster, key, sealed, expected)
    return revision === undefined ? undefined : checked(revision)
  }

  /** Remove an expired value if its revision is `expected`. */
  async remove(key: string, expected: number): Promise<void> {
    await this.#store.removeShared?.(this.#cluster, key, expected)
  }

  #open(key: string, sealed: Uint8Array): Versioned | undefined {
    const message = this.#sealing.decrypt(sealed)
    const opened = message && decode(message)
    if (!isRecord(opened) || opened.key !== key) return undefined
    const version = readVersion(opened.version)
    const overAt = asNumber(opened.overAt)
    return version && { version, value: opened.value ?? undefined, ...(overAt !== undefined && { overAt }) }
  }
}

/** Maximum size of an encrypted value. Stores do not return larger ones, since no master writes them. */
const MAX_BYTES = 4 * 1024 * 1024

/** Check that changes can be told apart by a revision, and return it. @throws SaltError STORE_FAILED */
function checked(revision: number, about = ''): number {
  if (Number.isSafeInteger(revision) && revision > 0) return revision
  throw new SaltError(
    'STORE_FAILED',
    `the store gives out the revision ${revision}${about}, which is not a whole number from 1 to ${Number.MAX_SAFE_INTEGER}. Remove what it has for the cluster, and the masters store it anew`,
  )
}
