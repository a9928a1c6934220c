import type { EngineFacts } from '../author/engine.ts'
import type { RelayedLine } from '../log/relay.ts'

/** The configuration of an engine. */
export interface EngineSpec {
  /** Its name in logs. */
  readonly name: string
  /** Name of the plugin: `engine_module`, or else `name`. */
  readonly plugin: string
  readonly options: Readonly<Record<string, unknown>>
}

/** The first message to the process of an engine. */
export interface EngineStart extends EngineSpec, Pick<EngineFacts<unknown>, 'role' | 'id'> {
  readonly type: 'start'
  readonly config: Readonly<Record<string, unknown>>
  /** Grains as MessagePack. */
  readonly grains: Uint8Array
}

export type ToEngine = EngineStart | { readonly type: 'stop' }

export type FromEngine =
  | { readonly type: 'log'; readonly line: RelayedLine }
  /** The engine cannot be used as configured, so it is not restarted. */
  | { readonly type: 'refused'; readonly reason: string }
  /** The engine has returned, or failed. */
  | { readonly type: 'ended'; readonly reason: string }
