import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

/** At least so long; as long as refusals usually take, where a backend takes longer. Milliseconds. */
const LEAST_MS = 500
const MOST_MS = 5_000
/** Refusals of one such time are looked at together: a slow moment counts once. Milliseconds. */
const MOMENT_MS = 60_000
/** The number of moments with a refusal whose slowest refusal is remembered. */
const MOMENTS = 5

export interface EvenDelaySettings {
  readonly leastMs?: number
  /** Milliseconds, as `performance.now()` gives them. */
  readonly now?: () => number
  readonly sleep?: (ms: number) => Promise<unknown>
}

/**
 * Lets refusals take the same time, whatever was wrong: how long one takes tells neither who is known nor which backends
 * there are. It also slows down who tries passwords. A backend that was slow for a moment slows nobody down after that.
 */
export class EvenDelay {
  readonly #settings: Required<EvenDelaySettings>
  /** The slowest of each moment, the current one last. */
  readonly #slowest: number[] = []
  #moment = Number.NEGATIVE_INFINITY

  constructor(settings: EvenDelaySettings = {}) {
    this.#settings = { leastMs: LEAST_MS, now: () => performance.now(), sleep: delay, ...settings }
  }

  /** `since`: when the work began, as `now` tells it. */
  async refuse(since: number): Promise<void> {
    const took = this.#settings.now() - since
    const even = this.#evenWith(took)
    const quarter = Math.floor(even / 4)
    const due = even + (quarter > 0 ? randomInt(quarter) : 0) - took
    if (due > 0) await this.#settings.sleep(due)
  }

  /** The greater of the slowest refusal of this moment and the usual one. Milliseconds. */
  #evenWith(took: number): number {
    const moment = Math.floor(this.#settings.now() / MOMENT_MS)
    if (moment !== this.#moment) this.#slowest.push(0)
    this.#moment = moment
    if (this.#slowest.length > MOMENTS) this.#slowest.shift()
    const current = Math.max(this.#slowest.pop() ?? 0, took)
    this.#slowest.push(current)
    return Math.min(Math.max(this.#settings.leastMs, current, median(this.#slowest)), MOST_MS)
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0
