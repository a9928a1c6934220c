/** What is kept of a token. Of the token itself only the SHA-256 is, as hex digits, by which it is found. */
export interface TokenRecord {
  /** Seconds since 1970. */
  readonly start: number
  readonly expire: number
  readonly name: string
  /** The backend that said who it is. */
  readonly eauth: string
  readonly groups: readonly string[]
  /** Rights that count instead of those in the configuration. */
  readonly permissions?: readonly unknown[]
  /** Digest of the entries of the configuration that applied when it was made; they have to be the same when it is used. */
  readonly rights?: string
}

/**
 * Where tokens are kept; all workers of a master share it, or several masters. Everything rejects with SaltError
 * STORE_FAILED while the store is away; that is never taken for "there is no such token".
 */
export interface TokenStore {
  /** Resolves when it will be found, also after a crash as far as the store keeps what it has. */
  put(digest: string, record: TokenRecord): Promise<void>
  get(digest: string): Promise<TokenRecord | undefined>
  /** False if there is none. */
  remove(digest: string): Promise<boolean>
  /** Forget those that expired before `now`, in seconds. Gives how many. */
  expire(now: number): Promise<number>
  close(): Promise<void>
}
