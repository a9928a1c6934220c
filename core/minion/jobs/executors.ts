import type { Context } from '../../author/context.ts'
import type { Executor, ExecutorCall } from '../../author/executor.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { jsonText } from '../../dialect/json.ts'
import { type Loader, type LoaderSettings, openLoader } from '../../loader/index.ts'
import type { JobLoad } from '../../wire/publication.ts'

/** Salt's executor that calls a function directly. If it is the only one, no executor is loaded. */
const DIRECT = 'direct_call'

type Naming = Pick<JobLoad, 'module_executors'>

/** True if a job names its executors. */
export const namesExecutors = ({ module_executors: given }: Naming): boolean =>
  given !== undefined && !isNothing(given)

/** Values that Python Salt treats as "not given". */
const isNothing = (value: unknown) =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** The options of a job for its executors (`--executor-opts`). */
export const executorOptions = ({ executor_opts: given }: Pick<JobLoad, 'executor_opts'>) => ({
  options: isRecord(given) ? given : {},
})

export interface ExecutorsSettings extends LoaderSettings {
  /** Whether `sudo_user` applies: the executor sudo then replaces the last one, as in Salt for jobs. */
  readonly ofJobs: boolean
}

/** Runs functions through plugins of the kind `executors`. They are loaded on demand. */
export class Executors {
  readonly #settings: ExecutorsSettings
  #loader: Loader | undefined

  constructor(settings: ExecutorsSettings) {
    this.#settings = settings
  }

  /**
   * Return the names of the executors of a job in order: those it names, else those of the configuration. Undefined if
   * functions are called directly.
   * @throws SaltError INVOCATION
   */
  namesOf(job: Naming): readonly string[] | undefined {
    const { config, ofJobs } = this.#settings
    const given = namesExecutors(job) ? job.module_executors : (config.module_executors ?? DIRECT)
    const named = Array.isArray(given) ? given : [given]
    if (!named.every((name): name is string => typeof name === 'string'))
      throw invocation(`Wrong executors specification: ${jsonText(given)}. String or non-empty list expected`)
    const names = ofJobs && config.sudo_user ? [...named.slice(0, -1), 'sudo'] : named
    return names.every((name) => name === DIRECT) ? undefined : names
  }

  /** Resolves with the result of the first executor that has one, else with `null`. Rejects with INVOCATION if one is missing. */
  async execute(names: readonly string[], call: ExecutorCall, context: Context): Promise<unknown> {
    for (const executor of await this.#all(names)) {
      const result = await executor.execute(call, context)
      if (result !== null && result !== undefined) return result
    }
    return null
  }

  /** Whether one of the executors accepts a function that this minion does not have. */
  async allowMissing(names: readonly string[] | undefined, fun: string): Promise<boolean> {
    for (const executor of names ? await this.#all(names) : [])
      if ((await executor.allowMissingFunc?.(fun)) === true) return true
    return false
  }

  /** Call `allowMissing` for the executors of the configuration, for checks of calls, which have no job yet. */
  readonly isElsewhere = (fun: string): Promise<boolean> => this.allowMissing(this.namesOf({}), fun)

  #all(names: readonly string[]): Promise<Executor[]> {
    this.#loader ??= openLoader('executors', this.#settings)
    const loader = this.#loader
    return Promise.all(
      names.map((name) =>
        loader.plugin<Executor>(name).catch((error: unknown) => {
          throw invocation(`Executor '${name}' is not available: ${messageOf(error)}`)
        }),
      ),
    )
  }
}

const invocation = (message: string) => new SaltError('INVOCATION', message)
