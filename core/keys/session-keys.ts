import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { SaltError } from '../base/errors.ts'
import { fingerprint, type PublicKey, SymmetricKey } from '../crypto/index.ts'
import { keysUnder, openStore, type Store, type StoreOptions } from '../store/index.ts'
import type { DeriveSession } from './derived-sessions.ts'
import type { KeyStore } from './key-store.ts'

export interface SessionKeySettings extends StoreOptions {
  readonly keys: Pick<KeyStore, 'accepted'>
  /** `publish_session`, in seconds; 0 means no limit. */
  readonly lifetimeSeconds: number
  readonly clock?: Clock
  /** Makes the keys, if several masters are to have the same; they are then not stored, and have no lifetime. */
  readonly derive?: DeriveSession | undefined
}

interface Session {
  readonly text: string
  /** Fingerprint of the minion key that the session was created for. */
  readonly owner: string
  /** Creation time in milliseconds since 1970. */
  readonly made: number
  /** True once the minion used a session key, which proves that it supports generation 3. */
  readonly used?: true
}

/** A session that requests may use now. */
export interface OpenSession {
  readonly key: SymmetricKey
  /** The minion's accepted key. */
  readonly owner: PublicKey
  /** Whether the minion used a session key before. */
  readonly used: boolean
}

const MAX_CACHED_KEYS = 5000

/**
 * The keys that generation 3 minions encrypt their requests with (wire protocol §18). Unlike Salt's, a session
 * is bound to the accepted key of the minion: it ends as soon as that key is deleted, rejected or replaced, and ids
 * without an accepted key never get one. All workers share one store; records have the key `['session', id]`.
 */
export class SessionKeys {
  readonly #store: Store
  readonly #settings: SessionKeySettings
  readonly #parsed = new Map<string, SymmetricKey>()
  readonly #fingerprints = new WeakMap<PublicKey, string>()

  /** Return the path of the store inside `directory`. */
  static path(directory: string): string {
    return join(directory, 'sessions.mdb')
  }

  /** @throws SaltError STORE_FAILED */
  static open(directory: string, settings: SessionKeySettings): SessionKeys {
    return new SessionKeys(openStore(SessionKeys.path(directory), settings), settings)
  }

  private constructor(store: Store, settings: SessionKeySettings) {
    this.#store = store
    this.#settings = settings
  }

  /** Return the session that opens this minion's requests; undefined if the minion has to sign in again. */
  async current(id: string): Promise<OpenSession | undefined> {
    const { derive } = this.#settings
    const owner = this.#settings.keys.accepted(id)
    const session = owner && (this.#sessionWith(owner, id) ?? this.#newSessionWith(owner, id))
    if (owner && derive)
      return { key: derive(id, this.#fingerprint(owner)), owner, used: session?.used === true }
    if (!session || !this.#isYoung(session)) return undefined
    return { key: this.#parse(session.text), owner, used: session.used === true }
  }

  /** Return the session key for a sign-in: the present one, or a new one. @throws SaltError KEY_REJECTED, STORE_FAILED */
  async forAcceptedKey(id: string, key: PublicKey): Promise<SymmetricKey> {
    const accepted = this.#settings.keys.accepted(id)
    if (!accepted?.equals(key)) {
      throw new SaltError('KEY_REJECTED', `The key of ${id} is no longer accepted.`, { id })
    }
    const owner = this.#fingerprint(accepted)
    if (this.#settings.derive) return this.#settings.derive(id, owner)
    return this.#present(id, owner) ?? this.#renew(id, owner)
  }

  /** Whether this minion ever used a session key with its currently accepted key. */
  async wasUsed(id: string): Promise<boolean> {
    return this.#sessionOf(id)?.used === true
  }

  /** Record that the minion used its session key. Writes only the first time. */
  async used(id: string): Promise<void> {
    if (this.#sessionOf(id)?.used !== undefined) return
    const key = this.#settings.derive && this.#settings.keys.accepted(id)
    if (key) await this.#renew(id, this.#fingerprint(key))
    await this.#store.change((records) => {
      const present = records.get(['session', id]) as Session | undefined
      if (present) records.put(['session', id], { ...present, used: true })
    })
  }

  async remove(id: string): Promise<void> {
    await this.#store.remove(['session', id])
  }

  /** Remove the sessions of keys that are gone. Resolves with their number. */
  async prune(): Promise<number> {
    const ids = Array.from(this.#store.keys(keysUnder('session')), (key) => String(key[1]))
    const ended = ids.filter((id) => !this.#sessionOf(id))
    await Promise.all(ended.map((id) => this.remove(id)))
    return ended.length
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** Create a session. Workers that do so at the same time get the same key. */
  async #renew(id: string, owner: string): Promise<SymmetricKey> {
    const { clock = systemClock } = this.#settings
    const text = await this.#store.change((records) => {
      const present = records.get(['session', id]) as Session | undefined
      if (present?.owner === owner && this.#isYoung(present)) return present.text
      const used = present?.owner === owner && present.used
      const session: Session = {
        text: SymmetricKey.generate().text,
        owner,
        made: clock.now(),
        ...(used && { used }),
      }
      records.put(['session', id], session)
      return session.text
    })
    return this.#parse(text)
  }

  #present(id: string, owner: string): SymmetricKey | undefined {
    const session = this.#read(id)
    return session?.owner === owner && this.#isYoung(session) ? this.#parse(session.text) : undefined
  }

  #sessionOf(id: string): Session | undefined {
    const owner = this.#settings.keys.accepted(id)
    return owner && this.#sessionWith(owner, id)
  }

  /** Look again for a session that another worker has just created. */
  #newSessionWith(owner: PublicKey, id: string): Session | undefined {
    this.#store.refresh()
    return this.#sessionWith(owner, id)
  }

  #sessionWith(owner: PublicKey, id: string): Session | undefined {
    const session = this.#read(id)
    return session?.owner === this.#fingerprint(owner) ? session : undefined
  }

  #read(id: string): Session | undefined {
    return this.#store.get(['session', id]) as Session | undefined
  }

  #isYoung({ made }: Session): boolean {
    const { lifetimeSeconds, clock = systemClock } = this.#settings
    return lifetimeSeconds === 0 || clock.now() - made < lifetimeSeconds * 1000
  }

  #fingerprint(key: PublicKey): string {
    const known = this.#fingerprints.get(key) ?? fingerprint(key.pem, 'sha256')
    this.#fingerprints.set(key, known)
    return known
  }

  #parse(text: string): SymmetricKey {
    const known = this.#parsed.get(text)
    if (known) return known
    const key = SymmetricKey.parse(text)
    if (this.#parsed.size >= MAX_CACHED_KEYS) this.#parsed.clear()
    this.#parsed.set(text, key)
    return key
  }
}
