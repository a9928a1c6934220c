import { type Deferred, deferred } from '../base/deferred.ts'
import { Child } from '../process/child.ts'
import { processEntry } from '../process/process-entry.ts'
import type { FromReturnerProcess, ReturnerStart, ToReturnerProcess } from './messages.ts'

export interface ReturnerChildSettings {
  /** Name of the returner. */
  readonly name: string
  readonly start: ReturnerStart
  take(message: Extract<FromReturnerProcess, { type: 'log' | 'state' | 'tried' }>): void
  /** Called with the native output of a process that crashed. */
  onNative(text: string): void
  /** Called once when the process has ended, with the reason unless it was stopped. */
  onGone(reason: string | undefined): void
}

/** Time limit for the answer whether a returner can be used. */
const CHECK_MS = 10_000
/** Time that a process has to finish its write when it is stopped. Less than its parent has to stop all of them. */
const STOP_MS = 700
/** Number of pings within the time-out of the process. */
const PINGS = 4

/** The parent's side of the process of one returner. */
export class ReturnerChild {
  readonly #child: Child<ToReturnerProcess, FromReturnerProcess>
  readonly #settings: ReturnerChildSettings
  readonly #gone = deferred<void>()
  readonly #checks = new Map<number, Deferred<string | undefined>>()
  #lastCheck = 0
  #hangs = false
  #stopping = false

  constructor(settings: ReturnerChildSettings) {
    this.#settings = settings
    this.#child = new Child({
      entry: processEntry('outbox/returner-process'),
      stderr: 'filter',
      onNative: settings.onNative,
      onMessage: (message) => this.#onMessage(message),
      onEnd: ({ code }) => void this.#onEnded(code === 0),
    })
    this.#child.send({ ...settings.start, name: settings.name })
  }

  /** Report that there may be items to write. */
  wake(): void {
    this.#child.send({ type: 'wake' })
  }

  /** Resolves with the reason why a target cannot be used, as a sentence; undefined if it can or that is unknown. */
  check(target: string): Promise<string | undefined> {
    const answer = deferred<string | undefined>()
    const check = ++this.#lastCheck
    this.#checks.set(check, answer)
    const timer = setTimeout(() => this.#answer(check, undefined), CHECK_MS)
    this.#child.send({ type: 'check', check, target })
    return answer.promise.finally(() => clearTimeout(timer))
  }

  /** Stop the process. The current write is finished if it does not exceed the time limit. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#child.stop({ type: 'stop' }, STOP_MS)
    await this.#gone.promise
  }

  #onMessage(message: FromReturnerProcess): void {
    if (message.type === 'ready') this.#watch()
    else if (message.type === 'checked') this.#answer(message.check, message.refusal)
    else this.#settings.take(message)
  }

  #watch(): void {
    this.#child.watch({
      everyMs: this.#timeoutMs / PINGS,
      hangs: (unanswered) => unanswered >= PINGS,
      onHang: () => {
        this.#hangs = true
        this.#child.kill('SIGKILL')
      },
    })
  }

  async #onEnded(inOrder: boolean): Promise<void> {
    const how = await this.#child.howItEnded()
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
}
