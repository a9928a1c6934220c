import type { AuditLog } from '../../auth/audit/index.ts'
import type { Context, Log, MinionServices } from '../../author/context.ts'
import { systemClock } from '../../base/clock.ts'
import { deferred } from '../../base/deferred.ts'
import { SaltError } from '../../base/errors.ts'
import { createJidSource } from '../../base/jid.ts'
import { type MembersOf, refuseUnknownMembers } from '../../base/known-members.ts'
import { asReceived } from '../../codec/index.ts'
import type { MasterConfig } from '../../config/index.ts'
import { tags } from '../../events/index.ts'
import type { Operator } from '../../keys/index.ts'
import {
  createContext,
  type LoadedFunction,
  type Loader,
  openLoader,
  shownCall,
  withoutSecrets,
  withWords,
} from '../../loader/index.ts'
import { type FunctionRun, startRun } from '../../runs/background.ts'
import {
  abortedResult,
  type Ended,
  earlyResult,
  failedResult,
  type RunnerResult,
  resultOf,
} from '../../runs/run-result.ts'
import type { RunStart } from '../../runs/stored-run.ts'
import { openMatch } from '../../targets/open-match.ts'
import type { RawCallArguments } from '../../wire/raw-arguments.ts'
import { LocalClient } from '../local/local-client.ts'
import { linkLocal } from '../local/master-link.ts'
import { createMasterServices, type MasterStores } from '../services/master-services.ts'
import { restrictToOwner } from './own-jobs.ts'
import { RunRecord } from './run-record.ts'

export interface RunnerClientSettings {
  readonly config: MasterConfig
  readonly log: Log
  readonly user: string
  /** The operator to record for changes of keys; default: `user`. */
  readonly operator?: Operator
  /** Owner of the runs, as the master names it. */
  readonly owner?: string | undefined
  /** Functions see only the jobs of this owner. */
  readonly ownJobs?: boolean | undefined
  /** Stores that a master in this process has open. */
  readonly stores?: MasterStores
}

export interface RunOptions {
  /** Default: a new one. */
  readonly jid?: string | undefined
  /** Abort it with the reason to end the function; one that does not end within a second is abandoned. */
  readonly signal?: AbortSignal
  /** The arguments as typed on a command line, from which declared types are read. */
  readonly words?: RawCallArguments | undefined
  /** Called with each progress event of the function, in addition to the event bus. */
  readonly onProgress?: (data: RunProgress) => void
  /** Store the return in the job cache, unless `runner_returns` is off. */
  readonly store?: boolean
  /** This process runs nothing but the function: others can list and kill it. */
  readonly ownProcess?: 'foreground' | 'background'
  /** Called once the start is announced. */
  readonly onStarted?: () => Promise<void>
}

export type RunProgress = Readonly<Record<string, unknown>>

/** Runs functions of the master's host: in this process, or through the master. */
export type FunctionCaller = Pick<FunctionClient, 'run' | 'start' | 'close'>

const OPTIONS: MembersOf<RunOptions> = {
  jid: true,
  signal: true,
  words: true,
  onProgress: true,
  store: true,
  ownProcess: true,
  onStarted: true,
}

function refuseWrongCall(fun: string, args: unknown, kwargs: unknown, options: RunOptions): void {
  if (!Array.isArray(args) || typeof kwargs !== 'object' || kwargs === null)
    throw new SaltError(
      'INVOCATION',
      `run() takes positional arguments as a list and keyword arguments as a map: run('${fun}', [], {}).`,
    )
  refuseUnknownMembers('run', options, OPTIONS)
}

const loaders = { runner: 'runners', wheel: 'wheel' } as const

interface FunctionCall {
  readonly found: LoadedFunction
  readonly about: RunStart
  readonly record: RunRecord
  readonly signal: AbortSignal
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly options: RunOptions
}

type Keywords = Readonly<Record<string, unknown>>

/** Salt's retcode in the event of a run whose function does not exist; programs exit with another code. */
const NO_SUCH_RUNNER = 254

/** How long a function may take to end after its signal is aborted. */
const ABANDON_MS = 1000

const nextJid = createJidSource(systemClock)

/** Runs runners or wheel functions in this process; fires their events if a master runs (wire protocol §12). */
export class FunctionClient {
  readonly #kind: FunctionRun['kind']
  readonly #settings: RunnerClientSettings
  readonly #loader: Loader
  #client: Promise<LocalClient> | undefined
  #audit: Promise<AuditLog> | undefined

  constructor(kind: FunctionRun['kind'], settings: RunnerClientSettings) {
    this.#kind = kind
    this.#settings = settings
    this.#loader = openLoader(loaders[kind], settings)
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
    refuseWrongCall(fun, args, kwargs, options)
    const { jid = nextJid() } = options
    const { user, owner, config } = this.#settings
    const record = await this.#record(jid, fun, options)
    const found = await this.#loader.get(fun)
    const fun_args = await shownCall(
      { fun, args, kwargs },
      async () => found?.params ?? this.#loader.params(fun),
      config,
    )
    if (options.ownProcess !== 'background') await this.#writeDown(jid, fun, fun_args) // in the background, the starter has audited it
    if (!found) {
      await options.onStarted?.()
      return this.#missing(jid, fun, fun_args, record)
    }
    const about = { fun: `${this.#kind}.${fun}`, jid, user, fun_args }
    await record.started({ ...about, ...(owner !== undefined && { owner }) })
    await options.onStarted?.()
    const signal = ending(about.fun, options.signal, config.runner_timeout)
    const words = withWords({ args, kwargs }, options.words)
    const result = await this.#perform({ found, about, record, signal, ...words, options })
    const { return: value, success, retcode } = result
    await record.ended({ ...about, return: value, success, ...(retcode !== 0 && { retcode }) })
    return { jid, ...result }
  }

  /**
   * Run a function in a process of its own, which continues when this one ends. Returns the job id and the prefix of the
   * tags of its events. Rejects with CALL_REFUSED if there is no such function, or if it does not accept these arguments.
   */
  async start(
    fun: string,
    args: readonly unknown[],
    kwargs: Keywords,
    { jid = nextJid(), words }: Pick<RunOptions, 'jid' | 'words'> = {},
  ): Promise<{ jid: string; tag: string }> {
    const { config, user } = this.#settings
    const found = await this.#loader.get(fun)
    if (!found) throw new SaltError('CALL_REFUSED', await this.#why(fun), { fun })
    const call = withWords({ args, kwargs }, words)
    bound(found, call)
    await this.#writeDown(jid, fun, await shownCall({ fun, args, kwargs }, async () => found.params, config))
    const run = await startRun({ kind: this.#kind, jid, fun, args, kwargs, words, user, config })
    run.leave()
    return { jid, tag: this.#kind === 'runner' ? tags.run(jid) : tags.wheel(jid) }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.close()
    await (await this.#audit)?.close()
  }

  /** Record the run in the audit log: a user who can read the master's files acts without asking the master. */
  async #writeDown(jid: string, fun: string, args: readonly unknown[]): Promise<void> {
    const { config, log, user, operator = { user } } = this.#settings
    this.#audit ??= import('../../auth/audit/index.ts').then(({ AuditLog }) =>
      AuditLog.open(config, (problem) => log.warn(problem)),
    )
    const entry = { act: this.#kind, verdict: 'allowed', ...operator, by: 'host', fun, args, jid } as const
    await (await this.#audit).record(entry)
  }

  #record(jid: string, fun: string, { store = false, ownProcess }: RunOptions): Promise<RunRecord> {
    const { config, log, user, owner, stores } = this.#settings
    return RunRecord.open({
      kind: this.#kind,
      jid,
      fun,
      user,
      owner,
      config,
      log,
      ownProcess,
      store: store && config.runner_returns,
      jobs: stores?.jobs,
      fire: (tag, data) => this.#fire(tag, data),
    })
  }

  /** Report a function that does not exist. Its event has a form of its own (wire protocol §12), with the owner. */
  async #missing(jid: string, fun: string, fun_args: unknown[], record: RunRecord): Promise<RunnerResult> {
    const why = await this.#why(fun)
    const { user, owner } = this.#settings
    const whose = owner === undefined ? {} : { owner }
    const event = { success: false, return: why, retcode: NO_SUCH_RUNNER, fun, fun_args, jid, ...whose }
    await record.refused({ fun: `${this.#kind}.${fun}`, jid, user, fun_args, ...whose }, why, event)
    return { jid, return: why, success: false, retcode: 1, failure: 'CALL_REFUSED' }
  }

  async #why(fun: string): Promise<string> {
    const { view } = this.#loader
    const own = await view.functions(`${fun}.*`)
    if (own.length > 0) return `'${fun}' is not a function. It has: ${own.join(', ')}.`
    return `${await this.#loader.why(fun)}${await this.#loader.hint(fun)}`
  }

  async #perform(call: FunctionCall): Promise<Ended> {
    const { found, about, record, signal, options } = call
    const { config, log, stores, user, owner, ownJobs, operator = { user } } = this.#settings
    const report = async (data: RunProgress) => {
      options.onProgress?.(data)
      await record.progress({ ...data })
    }
    let shown = <T>(value: T): T => value
    const { services, close } = createMasterServices({
      config,
      log,
      stores,
      operator,
      signal,
      progress: (data) => report(shown(data)),
      client: () => this.#connected(),
    })
    const what = about.fun.replace('.', ' ')
    try {
      const context = await this.#context(
        call,
        ownJobs ? restrictToOwner({ user, owner }, services) : services,
      )
      shown = (value) => withoutSecrets(context.log, value)
      signal.throwIfAborted()
      const rows = { take: (row: unknown, number: number) => report({ number, return: row }) }
      const work = found.run(bound(found, call), context, rows)
      const given = asReceived(await orLeft(work, signal), 'return')
      const end = resultOf(given, context, found.outputter)
      return signal.aborted ? earlyResult(what, signal.reason, end) : end
    } catch (error) {
      const end = signal.aborted ? abortedResult(what, signal.reason) : failedResult(what, error)
      return { ...end, return: shown(end.return) }
    } finally {
      await close()
    }
  }

  async #context({ about, signal }: FunctionCall, master: Context['master']): Promise<Context> {
    const { config, log } = this.#settings
    const { jid, fun, user, fun_args: arg } = about
    const base = {
      opts: config,
      id: config.id,
      grains: {},
      pillar: {},
      context: new Map(),
      log,
      signal,
      job: { jid, fun, arg, tgt: config.id, tgt_type: 'glob', ret: '', user, pid: process.pid },
      retcode: 0,
      match: await openMatch({ id: config.id, config, log }),
      get minion(): MinionServices {
        throw new SaltError(
          'INVOCATION',
          'context.minion is available only to functions on a minion; this is a runner.',
        )
      },
      master,
    }
    return createContext(base, this.#loader)
  }

  /** Connect to the master once; after a failure, try again, since a master may have been started meanwhile. */
  #connected(): Promise<LocalClient> {
    const { config, log, stores } = this.#settings
    this.#client ??= linkLocal(config, { log, jobs: stores?.jobs }).then(
      (link) => new LocalClient(config, link, undefined, log),
      (error: unknown) => {
        this.#client = undefined
        throw error
      },
    )
    return this.#client
  }

  /** Fire an event; false if no master runs. */
  async #fire(tag: string, data: object): Promise<boolean> {
    try {
      const { events } = await this.#connected()
      await events.fire(tag, data)
      return true
    } catch {
      return false
    }
  }
}

/** Return a signal that is aborted with `signal`, or after so many seconds (0: never). */
function ending(fun: string, signal: AbortSignal | undefined, seconds: number): AbortSignal {
  const late = new AbortController()
  const sentence = `${fun.replace('.', ' ')} was stopped because it ran longer than ${seconds} s (runner_timeout).`
  if (seconds > 0) setTimeout(() => late.abort(new SaltError('TIMEOUT', sentence)), seconds * 1000).unref()
  return signal ? AbortSignal.any([signal, late.signal]) : late.signal
}

/** Await the work; reject if it does not end after its signal was aborted. */
function orLeft<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const left = deferred<never>()
  const leave = () => void setTimeout(() => left.reject(signal.reason), ABANDON_MS)
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  return Promise.race([work, left.promise]).finally(() => signal.removeEventListener('abort', leave))
}

/** Bind the arguments to the function's parameters. Throws CALL_REFUSED, to distinguish that from a failure of the function. */
function bound(found: LoadedFunction, { args, kwargs }: Pick<FunctionCall, 'args' | 'kwargs'>) {
  try {
    return found.bind(args, kwargs)
  } catch (error) {
    throw SaltError.is(error) ? new SaltError('CALL_REFUSED', error.message, error.data) : error
  }
}
