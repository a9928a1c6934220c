/** The contract of `external_auth` backends: files in `plugins/auth`, `auth_dirs` or `salt://_auth`. */
import type { Context, Log } from './context.ts'

/**
 * The credentials of a user, unchecked: `username`, `password`, and further members that the backend declares
 * (`credentials`).
 */
export type Credentials = Readonly<Record<string, unknown>>

/** An authenticated user. */
export interface Authenticated {
  /** The name that entries of `external_auth` match, and that jobs have as their user. */
  readonly name: string
  /** Names of groups, without `%`. */
  readonly groups?: readonly string[]
  /** Permissions in the form of `external_auth`, if the backend provides them. */
  readonly permissions?: readonly unknown[]
}

export interface AuthFacts {
  readonly opts: Context['opts']
  /** The entries of `external_auth.<backend>` whose names begin with `^`, without it: `^filename` is `filename` here. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly log: Log
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal
}

export interface AuthBackend {
  /**
   * Names of further members of the credentials that the backend reads, besides `username` and `password`. It receives no
   * others, so that users cannot override its settings.
   */
  readonly credentials?: readonly string[]
  /**
   * Authenticate a user. `refused` is the reason for the log, as a sentence without secrets; the client does not receive it.
   * Rejects if the credentials cannot be checked, for instance if a server does not answer.
   */
  authenticate(
    credentials: Credentials,
    facts: AuthFacts,
  ): Promise<Authenticated | { readonly refused: string }>
  /** Check the settings when a master starts, and return each problem as a sentence. */
  check?(facts: Omit<AuthFacts, 'signal'>): Promise<readonly string[]>
  close?(): Promise<void>
}

/** Declare a backend: the default export of its file. */
export const auth = (backend: AuthBackend): AuthBackend => backend
