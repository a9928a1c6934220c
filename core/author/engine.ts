/** The contract of engines, which run beside a master or a minion for as long as it does. */
import type { Context, Log } from './context.ts'
import type { Args, Param, Params } from './params.ts'

/** The event bus of the daemon: that of the master, or the minion's own. */
export interface EngineEvents {
  /** Listen to events whose tag begins with `prefix`, or to all, from the call on. Ends when the engine is to end. */
  listen(
    prefix?: string,
  ): AsyncIterable<{ readonly tag: string; readonly data: Readonly<Record<string, unknown>> }>
  /** Fire an event on this bus. Rejects if the daemon does not take it. */
  fire(tag: string, data: object): Promise<void>
  /** Fire an event on the bus of the master. The engine of a minion sends it by way of that minion. */
  fireMaster(tag: string, data: object): Promise<void>
}

export interface EngineFacts<O> {
  /** The options that the configuration has below its name, checked. */
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
  /** Aborts when the engine is to end: it has two seconds for that. */
  readonly signal: AbortSignal
}

export interface EnginePlugin<P extends Params = Params> {
  /** Declare its options, as parameters of a function are declared. */
  readonly options: P
  /** Work until `signal` aborts. An engine that returns or rejects earlier is started again after a while. */
  start(facts: EngineFacts<Args<P>>): Promise<void>
}

/**
 * Declare an engine: the default export of a file whose name is the name users give.
 *
 * @example
 * export default engine({
 *   options: { tag: p.default(p.string(), 'salt/job/') },
 *   async start({ options, events, log }) {
 *     for await (const { tag } of events.listen(options.tag)) log.info(tag)
 *   },
 * })
 */
export const engine = <const P extends Readonly<Record<string, Param<unknown, 'value'>>>>(
  plugin: EnginePlugin<P>,
): EnginePlugin<P> => plugin
