import type { Clock } from './clock.ts'

/**
 * A smaller step ahead is believed at once: clocks are corrected by such steps, and processes are suspended for a
 * while.
 */
const STEP_MS = 600_000
/** A larger step ahead is believed after this time. */
const PROOF_MS = 3_600_000

interface Settings {
  readonly clock: Clock
  /** Milliseconds of a monotonic clock; `performance.now` by default. */
  readonly elapsed?: () => number
  /** Called once for each leap ahead, with its size in milliseconds; not for a leap before the first call of `now`. */
  readonly onLeap: (ms: number) => void
}

/**
 * The time by which expired records are deleted. It does not follow the clock when that leaps ahead, because of a mistake
 * or a broken battery, and is set right a little later: it continues at its own pace, and follows the clock after an
 * hour. A clock that is set back is followed at once, since nothing expires by that.
 */
export class SteadyTime {
  readonly #clock: Clock
  readonly #elapsed: () => number
  readonly #onLeap: (ms: number) => void
  /** The last accepted moment, in milliseconds since 1970 and of the monotonic clock. */
  #believed: { readonly time: number; readonly at: number } | undefined
  #aheadSince: number | undefined

  constructor({ clock, elapsed = () => performance.now(), onLeap }: Settings) {
    this.#clock = clock
    this.#elapsed = elapsed
    this.#onLeap = onLeap
  }

  /**
   * Return milliseconds since 1970.
   * @param known for the first call: the time of the latest known event, which is accepted as the starting point
   */
  now(known?: number): number {
    const [time, at] = [this.#clock.now(), this.#elapsed()]
    const isFirst = this.#believed === undefined
    this.#believed ??= { time: known ?? time, at }
    const expected = this.#believed.time + at - this.#believed.at
    if (time > expected + STEP_MS) {
      if (this.#aheadSince === undefined && !isFirst) this.#onLeap(time - expected)
      this.#aheadSince ??= at
      if (at - this.#aheadSince < PROOF_MS) return expected
    }
    this.#aheadSince = undefined
    this.#believed = { time, at }
    return time
  }
}
