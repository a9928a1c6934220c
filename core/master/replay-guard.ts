import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { MasterConfig } from '../config/index.ts'
import { replayDirectory } from '../jobs/paths.ts'
import { openStore, type Store, type StoreKey, type StoreOptions, under } from '../store/index.ts'

const REMOVED_AT_ONCE = 1000

interface Seen {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly jid?: string
}

const keyOf = (fingerprint: Uint8Array): StoreKey => [
  'request',
  Buffer.from(fingerprint).toString('base64url'),
]

/**
 * Remembers encrypted requests that have an effect each time they are run, by the last bytes of their ciphertext (its
 * MAC): the same message again is a replay. Shared by all workers. Entries are kept as long as a session key lives,
 * since nothing older can be opened any more.
 */
export class ReplayGuard {
  readonly #store: Store
  readonly #clock: Clock

  static path(config: MasterConfig): string {
    return join(replayDirectory(config), 'replays.mdb')
  }

  /** @throws SaltError STORE_FAILED */
  static open(config: MasterConfig, clock: Clock, options?: StoreOptions): ReplayGuard {
    return new ReplayGuard(openStore(ReplayGuard.path(config), options), clock)
  }

  private constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** True the first time. */
  firstTime(fingerprint: Uint8Array): Promise<boolean> {
    return this.#store.putNew(keyOf(fingerprint), { at: this.#clock.now() } satisfies Seen)
  }

  /** The job that came of this message, if it was seen before. */
  jobOf(fingerprint: Uint8Array): string | undefined {
    return (this.#store.get(keyOf(fingerprint)) as Seen | undefined)?.jid
  }

  /** A job came of this message: gives its id, or that of the job that came of it just before, in another worker. */
  async keepJob(fingerprint: Uint8Array, jid: string): Promise<string> {
    const isNew = await this.#store.putNew(keyOf(fingerprint), { at: this.#clock.now(), jid } satisfies Seen)
    return isNew ? jid : (this.jobOf(fingerprint) ?? jid)
  }

  /** Forget what was seen before `olderThan`, in milliseconds. */
  async expire(olderThan: number): Promise<void> {
    let old: StoreKey[] = []
    for (const { key, value } of this.#store.entries(under('request'))) {
      if ((value as unknown as Seen).at < olderThan) old.push(key)
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
