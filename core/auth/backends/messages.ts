import type { Credentials } from '../../author/auth.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { RelayedLine } from '../../log/relay.ts'
import type { OpenBackend } from './contract.ts'

/** What a backend is asked. */
export type BackendRequest =
  | { readonly ask: 'credentials' }
  | { readonly ask: 'check' }
  | { readonly ask: 'authenticate'; readonly given: Credentials }

/** The answer to each request. */
export type BackendAnswer<Ask extends BackendRequest['ask']> = Awaited<ReturnType<OpenBackend[Ask]>>

export type ToBackend =
  /** `name` is the name of the backend. */
  | { readonly type: 'start'; readonly name: string; readonly config: MasterConfig }
  | { readonly type: 'request'; readonly number: number; readonly request: BackendRequest }
  | { readonly type: 'stop' }

export type FromBackend =
  | { readonly type: 'answer'; readonly number: number; readonly answer: unknown }
  | { readonly type: 'failed'; readonly number: number; readonly reason: string }
  /** An error was thrown where nothing catches it: the process ends. */
  | { readonly type: 'crashed'; readonly reason: string }
  | { readonly type: 'log'; readonly line: RelayedLine }
