import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

/** Shortest delay. If backends take longer, refusals take as long as they usually do. */
const MIN_DELAY_MS = 500
const MAX_DELAY_MS = 5_000
/** Refusals within one window count once, by the slowest of them. */
const WINDOW_MS = 60_000
/** Number of windows whose slowest refusal is kept. */
const MAX_WINDOWS = 5

export interface EvenDelaySettings {
  readonly leastMs?: number
  /** Time in milliseconds, like `performance.now()`. */
  readonly now?: () => number
  readonly sleep?: (ms: number) => Promise<unknown>
}

/**
 * Makes all refusals take the same time, so that timing reveals neither which users nor which backends exist. It also slows down
 * password guessing. A backend that was slow only once does not delay later refusals.
 */
export class EvenDelay {
  readonly #settings: Required<EvenDelaySettings>
  /** The slowest refusal of each window, the current window last. */
  readonly #slowest: number[] = []
  #moment = Number.NEGATIVE_INFINITY

  constructor(settings: EvenDelaySettings = {}) {
    this.#settings = { leastMs: MIN_DELAY_MS, now: () => performance.now(), sleep: delay, ...settings }
  }

  /** Resolves when a refusal is due. `since` is the time of `now` when the work began. */
  async refuse(since: number): Promise<void> {
    const took = this.#settings.now() - since
    const even = this.#evenWith(took)
    const quarter = Math.floor(even / 4)
    const due = even + (quarter > 0 ? randomInt(quarter) : 0) - took
    if (due > 0) await this.#settings.sleep(due)
  }

  /** Return the longer of the slowest refusal in this window and the usual one, in milliseconds. */
  #evenWith(took: number): number {
    const moment = Math.floor(this.#settings.now() / WINDOW_MS)
    if (moment !== this.#moment) this.#slowest.push(0)
    this.#moment = moment
    if (this.#slowest.length > MAX_WINDOWS) this.#slowest.shift()
    const current = Math.max(this.#slowest.pop() ?? 0, took)
    this.#slowest.push(current)
    return Math.min(Math.max(this.#settings.leastMs, current, median(this.#slowest)), MAX_DELAY_MS)
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0
