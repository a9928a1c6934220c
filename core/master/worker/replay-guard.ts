import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { replayDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import { keysUnder, openStore, type Store, type StoreKey, type StoreOptions } from '../../store/index.ts'

/** Maximum number of removals in one transaction. */
const REMOVE_BATCH = 1000

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
 * Remembers encrypted requests that must not take effect twice, by the last bytes of their ciphertext (the MAC): the same
 * message again is a replay. Shared by all workers. Entries are kept as long as a session key lives, since older requests
 * cannot be decrypted any more.
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

  /** Note a request; true if it was not seen before. */
  firstTime(fingerprint: Uint8Array): Promise<boolean> {
    return this.#store.putNew(keyOf(fingerprint), { at: this.#clock.now() } satisfies Seen)
  }

  /** Return the job that was created from this message; undefined if there is none. */
  jobOf(fingerprint: Uint8Array): string | undefined {
    return (this.#store.get(keyOf(fingerprint)) as Seen | undefined)?.jid
  }

  /** Note the job created from this message. Returns its id, or that of the job another worker has created from it before. */
  async keepJob(fingerprint: Uint8Array, jid: string): Promise<string> {
    const isNew = await this.#store.putNew(keyOf(fingerprint), { at: this.#clock.now(), jid } satisfies Seen)
    return isNew ? jid : (this.jobOf(fingerprint) ?? jid)
  }

  /** Forget requests seen before `olderThan` (milliseconds since 1970). */
  async expire(olderThan: number): Promise<void> {
    let old: StoreKey[] = []
    for (const { key, value } of this.#store.entries(keysUnder('request'))) {
      if ((value as unknown as Seen).at < olderThan) old.push(key)
      if (old.length === REMOVE_BATCH) old = await this.#remove(old)
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
