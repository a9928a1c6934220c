import type { Store } from '../store/index.ts'
import { under } from '../store/index.ts'

/**
 * Remembers encrypted requests that have an effect each time they are run, by the last bytes of their ciphertext (its
 * MAC): the same message again is a replay. Shared by all workers. Entries are kept as long as a session key lives,
 * since nothing older can be opened any more.
 */
export class ReplayGuard {
  readonly #store: Store
  readonly #now: () => number

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
  }

  /** True the first time. */
  firstTime(fingerprint: Uint8Array): Promise<boolean> {
    return this.#store.putNew(['request', Buffer.from(fingerprint).toString('base64url')], this.#now())
  }

  /** Forget what was seen before `olderThan`, in milliseconds. */
  async expire(olderThan: number): Promise<void> {
    for (const { key, value } of this.#store.entries(under('request'))) {
      if (Number(value) < olderThan) await this.#store.remove(key)
    }
  }
}
