import type { Context, Log, MinionServices } from '../author/context.ts'
import type { Params } from '../author/params.ts'
import { systemClock } from '../base/clock.ts'
import { closest } from '../base/closest.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { tags } from '../events/index.ts'
import { type FunctionRun, startRun } from '../jobs/background.ts'
import { createJidSource } from '../jobs/jid.ts'
import type { Operator } from '../keys/index.ts'
import {
  createContext,
  type LoadedFunction,
  type Loader,
  maskArguments,
  openLoader,
  withWords,
} from '../loader/index.ts'
import { openMatch } from '../targets/open-match.ts'
import { shownArguments } from '../wire/return.ts'
import type { TypedWords } from '../wire/typed-words.ts'
import { LocalClient } from './local-client.ts'
import { createMasterServices, type MasterStores } from './master-services.ts'
import { type Ended, ended, failed, type RunnerResult } from './run-result.ts'
import { type RunReturn, storeRun } from './stored-run.ts'

export interface RunnerClientSettings {
  readonly config: MasterConfig
  readonly log: Log
  readonly user: string
  /** Who is written down for changes of keys; `user` if not said. */
  readonly operator?: Operator
  /** Of a master in this process. */
  readonly stores?: MasterStores
}

export interface RunOptions {
  /** A new one if not said. */
  readonly jid?: string | undefined
  readonly signal?: AbortSignal
  /** Of a command line: the arguments as they were typed, which declared types go by. */
  readonly words?: TypedWords | undefined
  /** Is given what the function tells while it runs, besides the event bus. */
  readonly onProgress?: (data: Progress) => void
  /** Keep what it returns in the job cache, unless `runner_returns` is switched off. */
  readonly store?: boolean
}

export type Progress = Readonly<Record<string, unknown>>

/** What tells runners and wheel functions apart: where they are, and the tags of their events. */
const kinds = {
  runner: { loader: 'runners', started: tags.runNew, ended: tags.runReturn, progress: tags.runProgress },
  wheel: { loader: 'wheel', started: tags.wheelNew, ended: tags.wheelReturn, progress: tags.wheelProgress },
} as const

interface Call {
  readonly found: LoadedFunction
  readonly about: Pick<RunReturn, 'fun' | 'jid' | 'user' | 'fun_args'>
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly options: RunOptions
}

type Keywords = Readonly<Record<string, unknown>>

/** Salt's code for it in events; programs end with another. */
const NO_SUCH_RUNNER = 254

const nextJid = createJidSource(systemClock)

/** Runs functions of the master's host in this process; tells the event bus if a master runs (wire protocol §12). */
export class FunctionClient {
  readonly #kind: FunctionRun['kind']
  readonly #settings: RunnerClientSettings
  readonly #loader: Loader
  #client: Promise<LocalClient> | undefined

  constructor(kind: FunctionRun['kind'], settings: RunnerClientSettings) {
    this.#kind = kind
    this.#settings = settings
    this.#loader = openLoader(kinds[kind].loader, settings)
  }

  async has(fun: string): Promise<boolean> {
    return (await this.#loader.get(fun)) !== undefined
  }

  async run(
    fun: string,
    args: readonly unknown[],
    kwargs: Keywords,
    options: RunOptions = {},
  ): Promise<RunnerResult> {
    const { jid = nextJid() } = options
    const { user } = this.#settings
    const found = await this.#loader.get(fun)
    const fun_args = await shown({ fun, args, kwargs }, async () => found?.params ?? this.#loader.params(fun))
    if (!found) return this.#missing(jid, fun, fun_args)
    const about = { fun: `${this.#kind}.${fun}`, jid, user, fun_args }
    await this.#announce(kinds[this.#kind].started(jid), about)
    const result = await this.#perform({
      found,
      about,
      ...withWords({ args, kwargs }, options.words),
      options,
    })
    const { return: value, success, retcode } = result
    const told = { ...about, return: value, success, ...(retcode !== 0 && { retcode }) }
    if (options.store && this.#settings.config.runner_returns) await this.#store(told)
    await this.#announce(kinds[this.#kind].ended(jid), told)
    return { jid, ...result }
  }

  /**
   * The same in a process of its own, which goes on when this one ends; gives the job id and how the tags of its events
   * begin. Rejects if there is no such function, or if it does not take these arguments.
   */
  async start(
    fun: string,
    args: readonly unknown[],
    kwargs: Keywords,
    { jid = nextJid(), words }: Pick<RunOptions, 'jid' | 'words'> = {},
  ): Promise<{ jid: string; tag: string }> {
    const { config, user } = this.#settings
    const found = await this.#loader.get(fun)
    if (!found) throw new SaltError('FUNCTION_NOT_FOUND', await this.#why(fun), { fun })
    const call = withWords({ args, kwargs }, words)
    found.bind(call.args, call.kwargs)
    const run = await startRun({ kind: this.#kind, jid, fun, args, kwargs, words, user, config })
    run.leave()
    return { jid, tag: this.#kind === 'runner' ? tags.run(jid) : tags.wheel(jid) }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.close()
  }

  /** Of a function that does not exist only the end is told, in a form of its own (wire protocol §12). */
  async #missing(jid: string, fun: string, fun_args: unknown[]): Promise<RunnerResult> {
    const why = await this.#why(fun)
    const told = { success: false, return: why, retcode: NO_SUCH_RUNNER, fun, fun_args, jid }
    await this.#announce(kinds[this.#kind].ended(jid), told)
    return { jid, return: why, success: false, retcode: 1 }
  }

  async #why(fun: string): Promise<string> {
    const { view } = this.#loader
    const own = await view.functions(`${fun}.*`)
    if (own.length > 0) return `'${fun}' is not a function. It has: ${own.join(', ')}.`
    const meant = closest(fun, await view.functions())
    const hint = meant === undefined ? '' : ` Did you mean '${meant}'?`
    return `${await this.#loader.why(fun)}${hint}`
  }

  async #perform(call: Call): Promise<Ended> {
    const { found, about, args, kwargs } = call
    const { config, log, stores, user, operator = { user } } = this.#settings
    const progress = (data: Progress) => this.#tell(call, data)
    const { services, close } = createMasterServices({
      config,
      log,
      client: () => this.#connected(),
      stores,
      operator,
      progress,
    })
    try {
      const context = await this.#context(call, services)
      const onRow = (row: unknown, number: number) => progress({ number, return: row })
      return ended(await found.run(found.bind(args, kwargs), context, onRow), context, found.outputter)
    } catch (error) {
      return failed(about.fun.replace('.', ' '), error)
    } finally {
      await close()
    }
  }

  async #context({ about, options }: Call, master: Context['master']): Promise<Context> {
    const { config, log } = this.#settings
    const { jid, fun, user, fun_args: arg } = about
    const base = {
      opts: config,
      id: config.id,
      grains: {},
      pillar: {},
      context: new Map(),
      log,
      signal: options.signal ?? new AbortController().signal,
      job: { jid, fun, arg, tgt: config.id, tgt_type: 'glob', ret: '', user, pid: process.pid },
      retcode: 0,
      match: await openMatch({ id: config.id, config, log }),
      get minion(): MinionServices {
        throw new SaltError(
          'INVOCATION',
          'context.minion is there for functions that run on a minion; this is a runner.',
        )
      },
      master,
    }
    return createContext(base, this.#loader)
  }

  async #tell({ about, options }: Call, data: Progress): Promise<void> {
    options.onProgress?.(data)
    await this.#announce(kinds[this.#kind].progress(about.jid), { ...data })
  }

  async #store(told: RunReturn): Promise<void> {
    const { config, log, stores } = this.#settings
    await storeRun(config, told, stores?.jobs).catch((error: unknown) =>
      log.error(`What ${told.fun} returned could not be stored: ${messageOf(error)}`),
    )
  }

  #connected(): Promise<LocalClient> {
    this.#client ??= LocalClient.connect(this.#settings.config)
    return this.#client
  }

  /** Nobody listens if no master runs: then there is nothing to tell. */
  async #announce(tag: string, data: Record<string, unknown>): Promise<void> {
    const client = await this.#connected().catch(() => undefined)
    await client?.events.fire(tag, data).catch(() => undefined)
  }
}

/** Arguments as events show them. Each positional one is in a list meanwhile: not even `a=b` is a keyword here. */
async function shown(
  { fun, args, kwargs }: Pick<Call, 'args' | 'kwargs'> & { readonly fun: string },
  paramsOf: () => Promise<Params | undefined>,
): Promise<unknown[]> {
  const keywords = Object.keys(kwargs).length ? [{ __kwarg__: true, ...kwargs }] : []
  const arg = [...args.map((value) => [value]), ...keywords]
  const masked = shownArguments(await maskArguments({ fun, arg }, paramsOf))
  return masked.map((item) => (Array.isArray(item) ? item[0] : item))
}
