/** The contract of executors, which run the function of a job, or have it run in another way. */
import type { Context } from './context.ts'

/** A function to run, with its arguments as it would get them. */
export interface ExecutorCall {
  /** `cmd.run` */
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  /** The options of the job for its executors (`--executor-opts`). */
  readonly options: Readonly<Record<string, unknown>>
  /** Run the function here, as it is. Rejects with what it throws, and if it is not there. */
  run(): Promise<unknown>
}

export interface Executor {
  /** Give what the job returns; `null` or `undefined` hands the call to the next executor of the job. */
  execute(call: ExecutorCall, context: Context): unknown
  /** Whether this executor takes a function that the minion does not have, to run it elsewhere. Default: it does not. */
  allowMissingFunc?(fun: string): boolean | Promise<boolean>
}

/**
 * Declare an executor: the default export of a file whose name is the name users give.
 *
 * @example
 * export default executor({
 *   async execute(call, { log }) {
 *     log.info(`${call.fun} runs`)
 *     return call.run()
 *   },
 * })
 */
export const executor = (plugin: Executor): Executor => plugin
