import type { RelayedLine } from '../log/relay.ts'
import type { BatchLimits, TargetState } from './outbox.ts'
import type { WriteTimes } from './returner-writer.ts'

/** The first message to the process of a returner. */
export interface ReturnerStart {
  readonly type: 'start'
  readonly config: Readonly<Record<string, unknown>>
  /** Grains and pillar of a minion, as MessagePack; undefined on a master. */
  readonly grains?: Uint8Array | undefined
  readonly pillar?: Uint8Array | undefined
  /** Paths of the outbox files. */
  readonly outboxes: readonly string[]
  readonly times: WriteTimes
  /** Gathering limits by target. Other targets are written at once. */
  readonly gather?: Readonly<Record<string, BatchLimits>> | undefined
}

export type ToReturnerProcess =
  /** `name` is the name of the returner. */
  | (ReturnerStart & { readonly name: string })
  /** An item was added to an outbox. */
  | { readonly type: 'wake' }
  /** Asks whether a target can be used. */
  | { readonly type: 'check'; readonly check: number; readonly target: string }
  | { readonly type: 'stop' }

export type FromReturnerProcess =
  | { readonly type: 'ready' }
  | { readonly type: 'checked'; readonly check: number; readonly refusal?: string }
  /** The store became unavailable, or is available again. */
  | { readonly type: 'state'; readonly state: TargetState }
  /** The returns of these jobs were written, or failed for the first time. */
  | { readonly type: 'tried'; readonly jids: readonly string[]; readonly error?: string }
  | { readonly type: 'log'; readonly line: RelayedLine }
