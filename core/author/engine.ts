/** The contract of engines, which run as long as the master or minion does. */
import type { Context, Log } from './context.ts'
import { type Args, asParams, type Declarations, type Options, type Params, type ParamsOf } from './params.ts'

/** The event bus of the daemon: that of the master, or the minion's own. */
export interface EngineEvents {
  /** Yield events whose tag begins with `prefix`, or all, from the call on. Ends when the engine's `signal` aborts. */
  listen(
    prefix?: string,
  ): AsyncIterable<{ readonly tag: string; readonly data: Readonly<Record<string, unknown>> }>
  /** Fire an event on this bus. Rejects if the daemon refuses it. */
  fire(tag: string, data: object): Promise<void>
  /** Fire an event on the bus of the master. For an engine of a minion, the minion sends it. Rejects for a tag that it may not use. */
  fireMaster(tag: string, data: object): Promise<void>
}

export interface EngineFacts<O> {
  /** The options from the configuration below the engine's name, checked. */
  readonly options: O
  readonly role: 'master' | 'minion'
  /** The id of the minion, or of the master. */
  readonly id: string
  /** The configuration of the daemon. */
  readonly opts: Context['opts']
  /** The grains of the minion; empty on a master. */
  readonly grains: Context['grains']
  readonly events: EngineEvents
  readonly log: Log
  /** Aborts when the engine must stop; it has two seconds to do so. */
  readonly signal: AbortSignal
}

export interface EnginePlugin<P extends Declarations = Params> {
  /** The options, declared like the parameters of a function. */
  readonly options: P
  /** Run until `signal` aborts. An engine that returns or rejects earlier is restarted after a delay. */
  start(facts: EngineFacts<Args<P>>): Promise<void>
}

/**
 * Declare an engine. It is the default export of a file that has the name of the engine.
 *
 * @example
 * export default engine({
 *   options: { tag: p.default(p.string(), 'salt/job/') },
 *   async start({ options, events, log }) {
 *     for await (const { tag } of events.listen(options.tag)) log.info(tag)
 *   },
 * })
 */
export const engine = <const D extends Options>(plugin: EnginePlugin<D>): EnginePlugin<ParamsOf<D>> =>
  ({
    ...plugin,
    options: asParams(plugin.options ?? {}, (name) => `The option '${name}' of engine()`),
  }) as EnginePlugin<ParamsOf<D>>
