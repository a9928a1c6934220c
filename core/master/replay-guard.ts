import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { MasterConfig } from '../config/index.ts'
import { replayDirectory } from '../jobs/paths.ts'
import { openStore, type Store, type StoreKey, under } from '../store/index.ts'

const REMOVED_AT_ONCE = 1000

/**
 * Remembers encrypted requests that have an effect each time they are run, by the last bytes of their ciphertext (its
 * MAC): the same message again is a replay. Shared by all workers. Entries are kept as long as a session key lives,
 * since nothing older can be opened any more.
 */
export class ReplayGuard {
  readonly #store: Store
  readonly #clock: Clock

  /** @throws SaltError STORE_FAILED */
  static open(config: MasterConfig, clock: Clock): ReplayGuard {
    return new ReplayGuard(openStore(join(replayDirectory(config), 'replays.mdb')), clock)
  }

  private constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** True the first time. */
  firstTime(fingerprint: Uint8Array): Promise<boolean> {
    return this.#store.putNew(['request', Buffer.from(fingerprint).toString('base64url')], this.#clock.now())
  }

  /** Forget what was seen before `olderThan`, in milliseconds. */
  async expire(olderThan: number): Promise<void> {
    let old: StoreKey[] = []
    for (const { key, value } of this.#store.entries(under('request'))) {
      if (Number(value) < olderThan) old.push(key)
      if (old.length === REMOVED_AT_ONCE) old = await this.#remove(old)
    }
    await this.#remove(old)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #remove(keys: readonly StoreKey[]): Promise<StoreKey[]> {
    await Promise.all(keys.map((key) => this.#store.remove(key)))
    return []
  }
}
