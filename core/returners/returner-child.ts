import { type ChildProcess, fork } from 'node:child_process'
import { type Deferred, deferred } from '../base/deferred.ts'
import { howItEnded, LastWords } from '../base/last-words.ts'
import { processEntry } from '../base/process-entry.ts'
import type { FromReturnerProcess, ReturnerStart, ToReturnerProcess } from './messages.ts'

export interface ReturnerChildSettings {
  /** Of the returner. */
  readonly name: string
  readonly start: ReturnerStart
  take(message: Extract<FromReturnerProcess, { type: 'log' | 'state' | 'tried' }>): void
  /** Is given the stacks that it died with. */
  onNative(text: string): void
  /** Once; without a reason if it ended because it was told to. */
  onGone(reason: string | undefined): void
}

/** How long it may take to say whether a returner can be used; after that nobody waits. Milliseconds. */
const CHECK_MS = 10_000
/** A process that is to end has so long to finish what it writes: less than its parent has to stop all of them. */
const STOP_MS = 700
/** It is asked so often within its time-out whether it is there. */
const PINGS = 4

/** The process of one returner. */
export class ReturnerChild {
  readonly #process: ChildProcess
  readonly #settings: ReturnerChildSettings
  readonly #checks = new Map<number, Deferred<string | undefined>>()
  readonly #gone = deferred<void>()
  #checked = 0
  #pings: NodeJS.Timeout | undefined
  #unanswered = 0
  #hangs = false
  #stopping = false

  constructor(settings: ReturnerChildSettings) {
    this.#settings = settings
    const child = fork(processEntry(import.meta.url, 'returner-process'), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    this.#process = child
    child.on('message', (message: FromReturnerProcess) => this.#take(message))
    const lastWords = new LastWords(child.stderr, { native: settings.onNative })
    child.once('exit', async (code, signal) =>
      this.#ended(code === 0, howItEnded(code, signal, await lastWords.reason())),
    )
    child.on('error', (error) => {
      if (child.pid === undefined) this.#ended(false, `cannot be started: ${error.message}`)
    })
    this.#post({ ...settings.start, name: settings.name })
  }

  /** There is something to write. */
  wake(): void {
    this.#post({ type: 'wake' })
  }

  /** Why a target cannot be used, as a sentence; undefined if it can be, or in doubt. */
  check(target: string): Promise<string | undefined> {
    const answer = deferred<string | undefined>()
    const check = ++this.#checked
    this.#checks.set(check, answer)
    const timer = setTimeout(() => this.#answer(check, undefined), CHECK_MS)
    this.#post({ type: 'check', check, target })
    return answer.promise.finally(() => clearTimeout(timer))
  }

  /** What is being written is finished, if that does not take long. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#post({ type: 'stop' })
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_MS)
    await this.#gone.promise
    clearTimeout(timer)
  }

  #take(message: FromReturnerProcess): void {
    if (message.type === 'ready') this.#pings = setInterval(() => this.#ping(), this.#timeoutMs / PINGS)
    else if (message.type === 'pong') this.#unanswered = 0
    else if (message.type === 'checked') this.#answer(message.check, message.refusal)
    else this.#settings.take(message)
  }

  /** Counted by rounds of this process, so that sleeping itself blames nobody. */
  #ping(): void {
    this.#hangs = this.#unanswered++ >= PINGS
    if (this.#hangs) this.#process.kill('SIGKILL')
    else this.#post({ type: 'ping' })
  }

  #ended(inOrder: boolean, how: string): void {
    clearInterval(this.#pings)
    for (const check of [...this.#checks.keys()]) this.#answer(check, undefined)
    const seconds = this.#timeoutMs / 1000
    const reason = this.#hangs
      ? `It did not answer for ${seconds} seconds, as in an endless loop.`
      : `Its process ${how}.`
    this.#settings.onGone(inOrder || this.#stopping ? undefined : reason)
    this.#gone.resolve()
  }

  get #timeoutMs(): number {
    return this.#settings.start.times.timeoutMs
  }

  #answer(check: number, refusal: string | undefined): void {
    this.#checks.get(check)?.resolve(refusal)
    this.#checks.delete(check)
  }

  #post(message: ToReturnerProcess): void {
    if (this.#process.connected) this.#process.send(message, () => {}) // that it is gone is told by its exit
  }
}
