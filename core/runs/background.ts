/** Starts runners and wheel functions in separate processes, for the master and for `salt-run --async`. */
import { deferred } from '../base/deferred.ts'
import { SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { Child } from '../process/child.ts'
import { processEntry } from '../process/process-entry.ts'
import type { RawCallArguments } from '../wire/raw-arguments.ts'

export interface FunctionRun {
  readonly kind: 'runner' | 'wheel'
  readonly jid: string
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly words?: RawCallArguments | undefined
  readonly user: string
  readonly owner?: string
  /** True if the function may find only the jobs of its owner. */
  readonly ownJobs?: boolean
  readonly config: MasterConfig
}

/** Messages to the process: load everything in advance, or run a function. */
export type ToRun =
  | { readonly type: 'run'; readonly run: FunctionRun }
  | { readonly type: 'warm_up'; readonly config: MasterConfig }

/** Messages from the process to its parent. */
export type FromRun = { readonly type: 'started' } | ({ readonly type: 'ended' } & RunEnd)

interface RunEnd {
  readonly return: unknown
  readonly success: boolean
}

export interface StartedRun {
  /** Rejects if the process ends before its function does. */
  readonly end: Promise<RunEnd>
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>
  /** Let the process continue after this one ends. */
  leave(): void
}

const entry = processEntry('client/functions/background-process')

/**
 * Start a function in a separate process and session, so that it survives a closed terminal and a stopped master. Resolves when
 * the function has started. Rejects with COMMAND_EXECUTION if it cannot be started.
 */
export const startRun = (run: FunctionRun): Promise<StartedRun> => startIn(forkRun(), run)

type RunProcess = Child<ToRun, FromRun>

/** Start a process that waits for a function to run. It ends with this process if none is sent. */
const forkRun = (): RunProcess =>
  new Child({ entry, detached: true, execArgv: [], stdout: 'ignore', stderr: 'ignore' })

/** Time after which an idle process is ended. */
const IDLE_MS = 300_000

/**
 * Starts each function in a separate process. The process for the next function is started in advance, which saves the start-up
 * time of Node. This begins with the first function and ends five minutes after the last; with `ready` it is always done.
 */
export class RunProcesses {
  readonly #config: MasterConfig
  readonly #ready: boolean
  #spare: RunProcess | undefined
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(config: MasterConfig, { ready }: { readonly ready: boolean }) {
    this.#config = config
    this.#ready = ready
    if (ready) this.#prepare()
  }

  /** Start a function, see `startRun`. */
  async start(run: FunctionRun): Promise<StartedRun> {
    const spare = this.#spare
    this.#spare = undefined
    clearTimeout(this.#idle)
    const started = startIn(spare?.connected ? spare : forkRun(), run)
    const next = () => this.#prepare()
    started.then(({ end }) => end.then(next, next), next)
    return started
  }

  close(): void {
    this.#closed = true
    this.#letGo()
  }

  #prepare(): void {
    if (this.#closed || this.#spare) return
    const spare = forkRun()
    this.#spare = spare
    spare.send({ type: 'warm_up', config: this.#config })
    void spare.ended.then(() => {
      if (this.#spare === spare) this.#spare = undefined
    })
    clearTimeout(this.#idle)
    if (!this.#ready) this.#idle = setTimeout(() => this.#letGo(), IDLE_MS).unref()
  }

  #letGo(): void {
    clearTimeout(this.#idle)
    this.#spare?.disconnect() // the process exits when disconnected
    this.#spare = undefined
  }
}

async function startIn(child: RunProcess, run: FunctionRun): Promise<StartedRun> {
  const started = deferred()
  const end = deferred<RunEnd>()
  end.promise.catch(() => {}) // callers need not await it
  child.listen((message) => (message.type === 'started' ? started.resolve() : end.resolve(message)))
  const gone = child.ended.then(({ code, signal, error }) => {
    const how = error
      ? `cannot be started: ${error.message}`
      : `ended (${signal ?? code}) before its function did`
    const sentence = `The process of ${run.kind} ${run.fun} ${how}.`
    const failure = new SaltError('COMMAND_EXECUTION', sentence, { fun: run.fun, jid: run.jid })
    started.reject(failure)
    end.reject(failure)
  })
  child.send({ type: 'run', run })
  await started.promise
  return { end: end.promise, gone, leave: () => child.leave() }
}
