import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

/** At least so long; as long as the slowest so far, where a backend takes longer. Milliseconds. */
const LEAST_MS = 500
const MOST_MS = 5_000

/**
 * Lets refusals take the same time, whatever was wrong: how long one takes tells neither who is known nor which backends
 * there are. It also slows down who tries passwords.
 */
export class EvenDelay {
  #slowest: number

  constructor(leastMs = LEAST_MS) {
    this.#slowest = leastMs
  }

  /** `since`: when the work began, as `performance.now()` tells it. */
  async refuse(since: number): Promise<void> {
    const took = performance.now() - since
    this.#slowest = Math.min(Math.max(this.#slowest, took), MOST_MS)
    const quarter = Math.floor(this.#slowest / 4)
    const due = this.#slowest + (quarter > 0 ? randomInt(quarter) : 0) - took
    if (due > 0) await delay(due)
  }
}
