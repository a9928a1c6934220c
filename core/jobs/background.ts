/** Runners and wheel functions that run in a process of their own: for the master, and for who does not want to wait. */
import { type ChildProcess, fork } from 'node:child_process'
import { deferred } from '../base/deferred.ts'
import { SaltError } from '../base/errors.ts'
import { processEntry } from '../base/process-entry.ts'
import type { MasterConfig } from '../config/index.ts'
import type { TypedWords } from '../wire/typed-words.ts'

export interface FunctionRun {
  readonly kind: 'runner' | 'wheel'
  readonly jid: string
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly words?: TypedWords | undefined
  readonly user: string
  readonly owner?: string
  /** It finds the jobs of its owner alone. */
  readonly ownJobs?: boolean
  readonly config: MasterConfig
}

/** To the process: get ready, or run this. */
export type ToRun = FunctionRun | { readonly warmUp: MasterConfig }

/** From the process to who started it. */
export type FromRun = { readonly type: 'started' } | ({ readonly type: 'ended' } & RunEnd)

interface RunEnd {
  readonly return: unknown
  readonly success: boolean
}

export interface StartedRun {
  /** Rejects if the process ends before its function does. */
  readonly end: Promise<RunEnd>
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>
  /** It goes on, whether this process does or not. */
  leave(): void
}

const entry = processEntry(import.meta.url, '../client/background-process')

/**
 * Start a function in a process of its own, in a session of its own: a closed terminal, or a master that stops, does
 * not end it. Resolves when it has been taken. @throws SaltError COMMAND_EXECUTION if it cannot be started
 */
export const startRun = (run: FunctionRun): Promise<StartedRun> => startIn(forkRun(), run)

/** It waits for what it is to run, and ends with this process if that never comes. */
function forkRun(): ChildProcess {
  return fork(entry, [], {
    detached: true,
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}

/** An idle process is let go after so long. Milliseconds. */
const IDLE_MS = 300_000

/**
 * Starts functions, each in a process of its own, of which the next is started ahead: who waits for a function need not wait for
 * Node, too. From the first function on, and for five minutes after the last; always if it is to be `ready`.
 */
export class RunProcesses {
  readonly #config: MasterConfig
  readonly #ready: boolean
  #spare: ChildProcess | undefined
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(config: MasterConfig, { ready }: { readonly ready: boolean }) {
    this.#config = config
    this.#ready = ready
    if (ready) this.#prepare()
  }

  /** As `startRun`. */
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
    const gone = () => {
      if (this.#spare === spare) this.#spare = undefined
    }
    spare.send({ warmUp: this.#config } satisfies ToRun, () => {})
    spare.once('exit', gone).once('error', gone)
    this.#spare = spare
    clearTimeout(this.#idle)
    if (!this.#ready) this.#idle = setTimeout(() => this.#letGo(), IDLE_MS).unref()
  }

  #letGo(): void {
    clearTimeout(this.#idle)
    if (this.#spare?.connected) this.#spare.disconnect() // it ends by itself then
    this.#spare = undefined
  }
}

async function startIn(child: ChildProcess, run: FunctionRun): Promise<StartedRun> {
  const started = deferred()
  const end = deferred<RunEnd>()
  const gone = deferred()
  end.promise.catch(() => {}) // not everybody waits for it
  const over = (how: string) => {
    const sentence = `The process of ${run.kind} ${run.fun} ${how}.`
    const error = new SaltError('COMMAND_EXECUTION', sentence, { fun: run.fun, jid: run.jid })
    started.reject(error)
    end.reject(error)
    gone.resolve()
  }
  child.on('message', (message: FromRun) => {
    if (message.type === 'started') started.resolve()
    else end.resolve(message)
  })
  child.once('exit', (code, signal) => over(`ended (${signal ?? code}) before its function did`))
  child.once('error', (error) => over(`cannot be started: ${error.message}`))
  child.send(run, () => {}) // that it did not come is told by the exit
  await started.promise
  return { end: end.promise, gone: gone.promise, leave: () => leave(child) }
}

function leave(child: ChildProcess): void {
  if (child.connected) child.disconnect()
  child.unref()
}
