import type { Gather, TargetState } from '../jobs/outbox.ts'
import type { LogLine } from '../log/line.ts'
import type { DeliveryTimes } from './deliveries.ts'

/** What a process for one returner is started with. */
export interface ReturnerStart {
  readonly type: 'start'
  readonly config: Readonly<Record<string, unknown>>
  /** MessagePack; of a minion. */
  readonly grains?: Uint8Array | undefined
  readonly pillar?: Uint8Array | undefined
  /** Files of the outboxes. */
  readonly outboxes: readonly string[]
  readonly times: DeliveryTimes
  /** By target, of those that wait for more before they are written to. */
  readonly gather?: Readonly<Record<string, Gather>> | undefined
}

export type ToReturnerProcess =
  /** `name`: of the returner. */
  | (ReturnerStart & { readonly name: string })
  /** Something was added to an outbox. */
  | { readonly type: 'wake' }
  /** Say whether this target can be used. */
  | { readonly type: 'check'; readonly check: number; readonly target: string }
  | { readonly type: 'ping' }
  | { readonly type: 'stop' }

export type FromReturnerProcess =
  | { readonly type: 'ready' }
  | { readonly type: 'pong' }
  | { readonly type: 'checked'; readonly check: number; readonly refusal?: string }
  /** The store goes away, or is back. */
  | { readonly type: 'state'; readonly state: TargetState }
  /** The returns of these jobs were written, or for the first time not. */
  | { readonly type: 'tried'; readonly jids: readonly string[]; readonly error?: string }
  | { readonly type: 'log'; readonly line: LogLine }
