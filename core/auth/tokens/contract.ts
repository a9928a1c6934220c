/** The stored data of a token. It is found by the SHA-256 of the token, as hex digits; the token itself is not stored. */
export interface TokenRecord {
  /** Seconds since 1970. */
  readonly start: number
  readonly expire: number
  readonly name: string
  /** The backend that authenticated the user. */
  readonly eauth: string
  readonly groups: readonly string[]
  /** Rights that replace those of the configuration. */
  readonly permissions?: readonly unknown[]
  /** Digest of the entries of the configuration that applied when the token was made; they must be unchanged when it is used. */
  readonly rights?: string
}

/**
 * A store of tokens, shared by all workers of a master, or by several masters. Everything rejects with SaltError STORE_FAILED while
 * the store is unavailable, which is never mistaken for a missing token.
 */
export interface TokenStore {
  /** Resolves when the record can be found, also after a crash if the store is durable. */
  put(digest: string, record: TokenRecord): Promise<void>
  get(digest: string): Promise<TokenRecord | undefined>
  /** Returns false if there is none. */
  remove(digest: string): Promise<boolean>
  /** Delete records that expired before `now`, in seconds. Returns their number. */
  expire(now: number): Promise<number>
  close(): Promise<void>
}
