import type { Clock } from './clock.ts'

/** A clock may be set by so much at once: it is corrected in such steps, or seconds were spent elsewhere. Milliseconds. */
const STEP_MS = 600_000
/** A clock that has gone further ahead is believed after so long. Milliseconds. */
const PROOF_MS = 3_600_000

interface Settings {
  readonly clock: Clock
  /** Milliseconds that pass however the clock is set. */
  readonly elapsed?: () => number
  /** Called once for each leap ahead, with its size in milliseconds; not for leaps before the first moment. */
  readonly onLeap: (ms: number) => void
}

/**
 * The time by which things are removed for good: one that does not follow the clock when it leaps ahead, as it does by a
 * mistake, or a broken battery, and is set right a little later. It goes on at its own pace meanwhile, and follows after an
 * hour. A clock that is set back is followed at once: by that nothing expires.
 */
export class SteadyTime {
  readonly #clock: Clock
  readonly #elapsed: () => number
  readonly #onLeap: (ms: number) => void
  /** A moment that is believed, by the clock and by what had passed. */
  #believed: { readonly time: number; readonly at: number } | undefined
  #aheadSince: number | undefined

  constructor({ clock, elapsed = () => performance.now(), onLeap }: Settings) {
    this.#clock = clock
    this.#elapsed = elapsed
    this.#onLeap = onLeap
  }

  /**
   * Milliseconds since 1970.
   * @param known where this has not been asked before: when the latest thing happened that is known of
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
