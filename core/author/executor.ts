/** The contract of executors, which control how the function of a job is run. */
import type { Context } from './context.ts'

/** A function to run, with the arguments it receives. */
export interface ExecutorCall {
  /** `cmd.run` */
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  /** The options of the job for its executors (`--executor-opts`). */
  readonly options: Readonly<Record<string, unknown>>
  /** Run the function in this process. Rejects with the error it throws, or if there is no such function. */
  run(): Promise<unknown>
}

export interface Executor {
  /** Return the result of the job; `null` or `undefined` passes the call to the next executor of the job. */
  execute(call: ExecutorCall, context: Context): unknown
  /** Whether the executor accepts a function that the minion does not have, to run it elsewhere. False by default. */
  allowMissingFunc?(fun: string): boolean | Promise<boolean>
}

/**
 * Declare an executor. It is the default export of a file that has the name of the executor.
 *
 * @example
 * export default executor({
 *   async execute(call, { log }) {
 *     log.info(`Running ${call.fun}`)
 *     return call.run()
 *   },
 * })
 */
export const executor = (plugin: Executor): Executor => plugin
