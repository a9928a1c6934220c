import type { Clock } from '../base/clock.ts'
import { SymmetricKey } from '../crypto/index.ts'

/**
 * The cluster-wide AES key and, for a grace period, its predecessor: requests encrypted just before a rotation are
 * still served (wire protocol §9, "Key rotation").
 */
export class AesKeys {
  readonly #graceMs: number
  readonly #clock: Clock
  #current: SymmetricKey
  #previous: { readonly key: SymmetricKey; readonly until: number } | undefined

  constructor(current: SymmetricKey, graceMs: number, clock: Clock) {
    this.#current = current
    this.#graceMs = graceMs
    this.#clock = clock
  }

  get current(): SymmetricKey {
    return this.#current
  }

  /** Return the keys that may decrypt a request, newest first. */
  accepted(): readonly SymmetricKey[] {
    const { key, until } = this.#previous ?? {}
    return key && until && this.#clock.now() < until ? [this.#current, key] : [this.#current]
  }

  /** Replace the key. With `revoke` there is no grace period, because a holder of the old key has lost access. */
  rotate(next: SymmetricKey = SymmetricKey.generate(), { revoke = false } = {}): SymmetricKey {
    this.#previous = revoke ? undefined : { key: this.#current, until: this.#clock.now() + this.#graceMs }
    this.#current = next
    return next
  }
}
