import { type JobFunctions, type JobReturn, untyped } from '../author/calls.ts'
import { Disposer } from '../base/disposer.ts'
import { SaltError } from '../base/errors.ts'
import { hasReturned, type JobRequest, type LocalClient, type MinionResult } from '../client/index.ts'
import type { MasterConfig } from '../config/index.ts'
import type { Event } from '../events/index.ts'
import { type ClusterParts, type ClusterSetup, type Options, openParts } from './cluster-parts.ts'
import type { Minions } from './minions.ts'

/**
 * A master, its minions and a client in one process, connected in memory. Keys, encryption, signatures, job cache and events
 * are real, in a temporary directory. Jobs run in this process, too.
 *
 * @example const fleet = await Cluster.open({ minions: ['web1', 'web2'], moduleDirs: ['.'] })
 * @example assert.deepEqual(await fleet.run('web*', 'hello.greet', ['Ada']), { web1: …, web2: … })
 */
export class Cluster {
  readonly config: MasterConfig
  /** A client that publishes jobs, as a program on the master's host would. */
  readonly client: LocalClient
  readonly minions: Minions
  /** All events of the master's bus so far. */
  readonly events: readonly Event[]
  /** The stores of the master. */
  readonly stores: ClusterParts['stores']
  readonly #runners: ClusterParts['runners']
  readonly #disposer: Disposer

  static async open(setup: ClusterSetup): Promise<Cluster> {
    const disposer = new Disposer()
    try {
      return new Cluster(await openParts(setup, disposer), disposer)
    } catch (error) {
      await disposer.close()
      throw error
    }
  }

  private constructor(parts: ClusterParts, disposer: Disposer) {
    this.config = parts.config
    this.client = parts.client
    this.minions = parts.minions
    this.events = parts.events
    this.stores = parts.stores
    this.#runners = parts.runners
    this.#disposer = disposer
  }

  /** Run a function on minions. Resolves with a map id → return; rejects if a minion fails or does not return. */
  async run(
    tgt: string,
    fun: string,
    args: readonly unknown[] | Options = [],
  ): Promise<Record<string, unknown>> {
    const given = Array.isArray(args) ? { arg: args } : { kwarg: args as Options }
    const results = await this.results({ tgt, fun: untyped(fun), ...given })
    const failed = results.flatMap((result) => failureOf(result, fun))
    if (failed.length > 0) throw new SaltError('COMMAND_EXECUTION', failed.join('\n'))
    return Object.fromEntries(results.flatMap((r) => (r.state === 'returned' ? [[r.id, r.return]] : [])))
  }

  /** Run a job, and resolve with the result of each minion. */
  async results<const F extends JobFunctions>(request: JobRequest<F>): Promise<MinionResult<JobReturn<F>>[]> {
    const results: MinionResult<JobReturn<F>>[] = []
    for await (const result of await this.client.cmdIter(request)) results.push(result)
    return results
  }

  /** Run a runner. Resolves with its result; rejects if it fails. */
  async runner(fun: string, args: readonly unknown[] = [], kwargs: Options = {}): Promise<unknown> {
    const { return: value, success } = await this.#runners.run(fun, args, kwargs)
    if (!success) throw new SaltError('COMMAND_EXECUTION', String(value), { fun })
    return value
  }

  async close(): Promise<void> {
    await this.#disposer.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

const failureOf = (result: MinionResult, fun: string): string[] => {
  if (!hasReturned(result)) return [`${result.id} did not return: ${result.reason}`]
  return result.state === 'returned' ? [] : [`${fun} failed on ${result.id}: ${show(result.return)}`]
}
const show = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
