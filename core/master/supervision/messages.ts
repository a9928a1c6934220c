import type { ErrorCode } from '../../base/error-codes.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { Snapshot } from '../../metrics/index.ts'
import type { CallCheckReport } from '../../wire/catalogue.ts'
import type { FromLoginLimit, ToLoginLimit } from './login-limits.ts'

/** Messages from the supervisor to its children. */
export type ToChild =
  | { readonly type: 'start'; readonly name: string; readonly config: MasterConfig; readonly aes: string }
  /** Start a child that does not use the wire protocol: it does not get the AES key. */
  | { readonly type: 'serve'; readonly config: MasterConfig }
  /** `revoke`: the previous key is refused from now on. */
  | { readonly type: 'rotate'; readonly aes: string; readonly revoke: boolean }
  | { readonly type: 'fire'; readonly tag: string; readonly data: Record<string, unknown> }
  | PassedCallCheck
  | FromLoginLimit
  /** A worker has put something into an outbox. */
  | { readonly type: 'queued' }
  /** Asks for a snapshot of the metrics. */
  | { readonly type: 'measure' }
  /** The configuration was read again. Workers apply only options of the log; for others they are replaced. */
  | { readonly type: 'reload'; readonly config: MasterConfig }
  /** `finishMs`: time limit for pending work, if it differs from the default. */
  | { readonly type: 'stop'; readonly finishMs?: number }

/** A minion's answer to a check, for the worker that waits for it, by way of the supervisor. */
interface PassedCallCheck {
  readonly type: 'call_check'
  readonly id: string
  readonly report: CallCheckReport
}

/** Messages from a child to the supervisor. */
export type FromChild =
  /** `problems`: the problems known so far, for the person who starts the master. */
  | { readonly type: 'ready'; readonly problems?: readonly string[] | undefined }
  | { readonly type: 'failed'; readonly message: string; readonly code?: ErrorCode | undefined }
  /** A new AES key is in use. */
  | { readonly type: 'rotated' }
  /** Another master of the cluster has a new AES key, which is to be used here, too. */
  | { readonly type: 'adopt'; readonly aes: string; readonly revoke: boolean }
  | { readonly type: 'measured'; readonly snapshot: Snapshot }
  | { readonly type: 'queued' }
  | PassedCallCheck
  | ToLoginLimit
