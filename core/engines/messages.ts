import type { EngineFacts } from '../author/engine.ts'
import type { LogLine } from '../log/line.ts'

/** An engine as the configuration has it. */
export interface EngineSpec {
  /** The name that logs use. */
  readonly name: string
  /** The name of the plugin: its `engine_module`, or else `name`. */
  readonly plugin: string
  readonly options: Readonly<Record<string, unknown>>
}

/** The first message to the process of an engine. */
export interface EngineStart extends EngineSpec, Pick<EngineFacts<unknown>, 'role' | 'id'> {
  readonly type: 'start'
  readonly config: Readonly<Record<string, unknown>>
  /** MessagePack. */
  readonly grains: Uint8Array
}

export type ToEngine = EngineStart | { readonly type: 'stop' }

export type FromEngine =
  | { readonly type: 'log'; readonly line: LogLine }
  /** The engine cannot be used as it is configured: starting it again would not help. */
  | { readonly type: 'refused'; readonly reason: string }
  /** The engine has returned, or failed. */
  | { readonly type: 'ended'; readonly reason: string }
