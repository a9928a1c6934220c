import type { Authenticated, Credentials } from '../../author/auth.ts'

/** The user; or why the user is refused, or cannot be checked now (`unknowable`): clauses for the log. */
export type Authentication =
  | { readonly known: Authenticated }
  | { readonly refused: string }
  | { readonly unknowable: string }

/** A backend, in this process or in one of its own. Functions reject with the reason if it cannot be used. */
export interface OpenBackend {
  /** Resolves with the members of a request that the backend reads. */
  credentials(): Promise<readonly string[]>
  authenticate(given: Credentials): Promise<Authentication>
  /** Resolves with sentences about settings that will not work. */
  check(): Promise<readonly string[]>
  close(): Promise<void>
}
