import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { TokenRecord, TokenStore } from './contract.ts'

/** 256 random bits, as hex digits. */
const TOKEN = /^[0-9a-f]{64}$/

export interface TokensSettings {
  /** Open the store; called on first use. */
  open(): Promise<TokenStore>
  readonly clock: Clock
  /** Whether the rights that the token was made with are still those of the configuration. */
  isCurrent(record: TokenRecord): boolean
}

/** The tokens of a master. Everything rejects with STORE_FAILED while the store is unavailable. */
export class Tokens {
  readonly #settings: TokensSettings
  #store: Promise<TokenStore> | undefined

  constructor(settings: TokensSettings) {
    this.#settings = settings
  }

  /** Make a token with a lifetime in seconds. */
  async make(
    about: Omit<TokenRecord, 'start' | 'expire'>,
    seconds: number,
  ): Promise<{ readonly token: string; readonly record: TokenRecord }> {
    const token = randomBytes(32).toString('hex')
    const start = this.#now()
    const record = { ...about, start, expire: start + seconds }
    await (await this.#opened()).put(digestOf(token), record)
    return { token, record }
  }

  /** Return the record of a token. A token that has expired, or whose owner's rights have changed, is deleted. */
  async find(token: string): Promise<TokenRecord | undefined> {
    if (!TOKEN.test(token)) return undefined
    const store = await this.#opened()
    const record = await store.get(digestOf(token))
    if (!record || (record.expire > this.#now() && this.#settings.isCurrent(record))) return record
    await store.remove(digestOf(token))
    return undefined
  }

  /** Delete a token. Returns false if there is none. */
  async revoke(token: string): Promise<boolean> {
    return TOKEN.test(token) && (await this.#opened()).remove(digestOf(token))
  }

  async close(): Promise<void> {
    const store = await this.#store?.catch(() => undefined)
    await store?.close()
  }

  /** Open the store once; after a failure, try again. */
  #opened(): Promise<TokenStore> {
    this.#store ??= this.#settings.open().catch((error: unknown) => {
      this.#store = undefined
      throw error
    })
    return this.#store
  }

  #now(): number {
    return this.#settings.clock.now() / 1000
  }
}

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')
