import { type ChildProcess, fork } from 'node:child_process'
import type { Log } from '../author/context.ts'
import { backoff } from '../base/backoff.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { howItEnded, LastWords } from '../base/last-words.ts'
import { processEntry } from '../base/process-entry.ts'
import { seldom } from '../base/seldom.ts'
import { writeLine } from '../log/line.ts'
import type { EngineStart, FromEngine, ToEngine } from './messages.ts'

/** Waits between two starts of an engine that ends by itself. */
const RESTART = { minMs: 1_000, maxMs: 60_000 }
/** An engine that ran for so long is started again after the shortest wait. Milliseconds. */
const STEADY_MS = 60_000
/** That an engine has ended for the same reason is told once in so long. Milliseconds. */
const TELL_MS = 600_000
/** An engine has so long to end before it is killed. Milliseconds. */
const STOP_MS = 2_000

/** Keeps one engine running, in a process of its own, until it is stopped. */
export class EngineKeeper {
  readonly #name: string
  readonly #start: () => EngineStart
  readonly #log: Log
  readonly #delays = backoff(RESTART)
  readonly #tellEnd: ReturnType<typeof seldom>
  #child: ChildProcess | undefined
  #gone: Deferred<void> = deferred()
  #resting: NodeJS.Timeout | undefined
  #stopping = false

  constructor(name: string, start: () => EngineStart, log: Log) {
    this.#name = name
    this.#start = start
    this.#log = log
    this.#tellEnd = seldom(
      (sentence, untold) => log.error(untold === 0 ? sentence : `${sentence} (as ${untold} times before)`),
      TELL_MS,
    )
    this.#run()
  }

  /** Ask the engine to end, and kill it if it does not. Resolves once its process is gone. */
  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#resting)
    const child = this.#child
    if (!child) return
    post(child, { type: 'stop' })
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await this.#gone.promise
    clearTimeout(timer)
  }

  #run(): void {
    this.#log.info(`Starting Engine(${this.#name})`)
    const child = fork(processEntry(import.meta.url, 'engine-process'), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    this.#child = child
    this.#gone = deferred()
    const since = performance.now()
    let reason: string | undefined
    let isRefused = false
    child.on('message', (message: FromEngine) => {
      if (message.type === 'log') return writeLine(this.#log, message.line, 'engines')
      reason = message.reason
      isRefused = message.type === 'refused'
    })
    const gone = (how: string) => {
      this.#child = undefined
      this.#gone.resolve()
      if (this.#stopping) return
      if (isRefused) this.#log.error(`Engine(${this.#name}) is not started: ${reason}`)
      else this.#rest(reason ?? how, performance.now() - since)
    }
    const lastWords = new LastWords(child.stderr, {
      native: (text) => this.#log.debug('Engine({name}) ended with: {text}', { name: this.#name, text }),
    })
    child.once('exit', async (code, signal) =>
      gone(`its process ${howItEnded(code, signal, await lastWords.reason())}`),
    )
    child.on('error', (error) => {
      if (child.pid === undefined) gone(error.message)
    })
    post(child, this.#start())
  }

  #rest(reason: string, ranMs: number): void {
    if (ranMs >= STEADY_MS) this.#delays.reset()
    const ms = this.#delays.next()
    const seconds = (ms / 1000).toFixed(1)
    this.#tellEnd(
      `Engine(${this.#name}) has ended, and is started again in ${seconds} seconds: ${reason}`,
      reason,
    )
    this.#resting = setTimeout(() => this.#run(), ms)
  }
}

function post(child: ChildProcess, message: ToEngine): void {
  if (child.connected) child.send(message, () => {}) // the event exit says that it is gone
}
