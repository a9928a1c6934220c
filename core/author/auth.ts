/** The contract of backends of `external_auth`: `plugins/auth/<name>.ts`, and in `auth_dirs` or `salt://_auth`. */
import type { Context, Log } from './context.ts'

/**
 * What somebody says of themselves, as it came: `username` and `password`, and what else a backend takes (`credentials`).
 * Nothing of it is checked.
 */
export type Credentials = Readonly<Record<string, unknown>>

/** Who it is. */
export interface Authenticated {
  /** The name that `external_auth` has entries for, and that jobs carry. */
  readonly name: string
  /** Names without `%`. */
  readonly groups?: readonly string[]
  /** What this one may do, in the forms of `external_auth`, where the backend says that itself. */
  readonly permissions?: readonly unknown[]
}

export interface AuthFacts {
  readonly opts: Context['opts']
  /** What stands in `external_auth.<backend>` with a `^` before its name: `^filename` is `filename` here. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly log: Log
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal
}

export interface AuthBackend {
  /**
   * Names of members of the credentials it looks at besides `username` and `password`. It is given no others: who signs in
   * chooses none of its settings.
   */
  readonly credentials?: readonly string[]
  /**
   * Who it is; or, for the log, why not: a sentence without anything secret, which the one who asks is not told. Rejects
   * if it cannot be found out, as when a server is away.
   */
  authenticate(
    credentials: Credentials,
    facts: AuthFacts,
  ): Promise<Authenticated | { readonly refused: string }>
  /** Whether the settings can work, asked when a master starts: sentences about what is wrong. */
  check?(facts: Omit<AuthFacts, 'signal'>): Promise<readonly string[]>
  close?(): Promise<void>
}

/** Give the contract's type to a plugin's default export. */
export const auth = (backend: AuthBackend): AuthBackend => backend
