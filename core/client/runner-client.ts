import type { Log, MinionServices } from '../author/context.ts'
import type { Params } from '../author/params.ts'
import { systemClock } from '../base/clock.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { tags } from '../events/index.ts'
import { createJidSource } from '../jobs/jid.ts'
import {
  createContext,
  type LoadedFunction,
  type Loader,
  maskArguments,
  openLoader,
  withWords,
} from '../loader/index.ts'
import { openMatch } from '../targets/open-match.ts'
import { isRecord } from '../wire/bytes.ts'
import { shownArguments } from '../wire/return.ts'
import type { TypedWords } from '../wire/typed-words.ts'
import { LocalClient } from './local-client.ts'
import { createMasterServices, type MasterStores } from './master-services.ts'

export interface RunnerResult {
  readonly jid: string
  readonly return: unknown
  readonly success: boolean
  readonly retcode: number
  readonly outputter?: string
}

export interface RunnerClientSettings {
  readonly config: MasterConfig
  readonly log: Log
  readonly user: string
  /** Of a master in this process. */
  readonly stores?: MasterStores
}

interface Call {
  readonly found: LoadedFunction
  readonly loader: Loader
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

/** Salt's code for it in events; programs end with another. */
const NO_SUCH_RUNNER = 254

const nextJid = createJidSource(systemClock)

/** Runs runner functions in this process, on the master's host; tells the event bus if a master runs (wire protocol §12). */
export class RunnerClient {
  readonly #settings: RunnerClientSettings
  #client: Promise<LocalClient> | undefined

  constructor(settings: RunnerClientSettings) {
    this.#settings = settings
  }

  /** `words`: of a command line, the arguments as they were typed, which declared types go by. */
  async run(
    fun: string,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
    signal: AbortSignal = new AbortController().signal,
    words?: TypedWords,
  ): Promise<RunnerResult> {
    const jid = nextJid()
    const { config, log, user } = this.#settings
    const loader = openLoader('runners', { config, log })
    const found = await loader.get(fun)
    const fun_args = await shown({ fun, args, kwargs }, async () => found?.params ?? loader.params(fun))
    if (!found) return this.#missing(jid, fun, fun_args, await loader.why(fun))
    const about = { fun: `runner.${fun}`, jid, user, fun_args }
    await this.#announce(tags.runNew(jid), about)
    const result = await this.#perform({ found, loader, ...withWords({ args, kwargs }, words), signal })
    await this.#announce(tags.runReturn(jid), { ...about, return: result.return, success: result.success })
    return { jid, ...result }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.close()
  }

  /** Of a runner that does not exist only the end is told, in a form of its own (wire protocol §12). */
  async #missing(jid: string, fun: string, fun_args: unknown[], why: string): Promise<RunnerResult> {
    const told = { success: false, return: why, retcode: NO_SUCH_RUNNER, fun, fun_args, jid }
    await this.#announce(tags.runReturn(jid), told)
    return { jid, return: why, success: false, retcode: 1 }
  }

  async #perform({ found, loader, args, kwargs, signal }: Call): Promise<Omit<RunnerResult, 'jid'>> {
    const { config, log } = this.#settings
    const { services, close } = createMasterServices({
      config,
      log,
      client: () => this.#connected(),
      stores: this.#settings.stores,
    })
    const context = createContext(
      {
        opts: config,
        id: config.id,
        grains: {},
        pillar: {},
        context: new Map(),
        log,
        signal,
        retcode: 0,
        match: await openMatch({ id: config.id, config, log }),
        get minion(): MinionServices {
          throw new SaltError(
            'INVOCATION',
            'context.minion is there for functions that run on a minion; this is a runner.',
          )
        },
        master: services,
      },
      loader,
    )
    try {
      const given = await found.run(found.bind(args, kwargs), context)
      const { value, outputter = found.outputter } = shaped(given)
      const retcode = retcodeOf(given, context.retcode)
      return { return: value ?? null, success: retcode === 0, retcode, ...(outputter && { outputter }) }
    } catch (error) {
      return { return: sentenceOf(found.name, error), success: false, retcode: 1 }
    } finally {
      await close()
    }
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

/** A runner that answers with a map may name its exit code in it (Salt: `retcode`, or `data.retcode`). */
function retcodeOf(value: unknown, retcode: number): number {
  if (retcode || typeof value !== 'object' || value === null) return retcode
  const { retcode: own, data } = value as { retcode?: unknown; data?: { retcode?: unknown } }
  const named = own ?? data?.retcode
  return typeof named === 'number' ? named : 0
}

/** A runner may say which outputter suits what it gives: `{data, outputter}`. */
function shaped(given: unknown): { value: unknown; outputter?: string } {
  if (!isRecord(given) || Object.keys(given).length !== 2) return { value: given }
  const { data, outputter } = given
  return typeof outputter === 'string' && data !== undefined ? { value: data, outputter } : { value: given }
}

function sentenceOf(fun: string, error: unknown): string {
  if (SaltError.is(error)) return messageOf(error)
  const trace = error instanceof Error ? error.stack : undefined
  return `Exception occurred in runner ${fun}: ${trace ?? messageOf(error)}`
}
