/** The result of an attempt; `unknown` if there was none, as when the master did not reply. */
export type AttemptResult = 'failed' | 'passed' | 'unknown'

export interface AttemptSettings {
  /** Failures that lock somebody out. */
  readonly limit: number
  /** How long failures are counted, and how long a lockout lasts. Milliseconds. */
  readonly lockMs: number
  readonly now?: () => number
}

/** Ends an attempt with its result. Returns whether that locks `who` out. */
export type OnLockout = (outcome: AttemptResult) => boolean

interface Tally {
  readonly who: string
  failures: number
  underWay: number
  /** Time at which the failures are forgotten. */
  until: number
  readonly queue: (() => void)[]
}

/** Maximum number of tallies besides those of locked-out users and addresses. */
const MAX_TALLIES = 10_000

/** Limits attempts. Runs at most as many at once as may still fail, so that a slow backend does not allow extra guesses. */
export class Attempts {
  readonly #settings: Required<AttemptSettings>
  readonly #tallies = new Map<string, Tally>()
  /** Locked tallies, in the order of their unlocking. Each exists only after `limit` wrong guesses, so their number needs no bound. */
  readonly #locked = new Map<string, Tally>()

  constructor(settings: AttemptSettings) {
    this.#settings = { now: () => performance.now(), ...settings }
  }

  /** Return how long `who` is locked out, in milliseconds; 0 if it is not. */
  lockedFor(who: string): number {
    const tally = this.#lockedTally(who)
    return tally ? tally.until - this.#settings.now() : 0
  }

  /**
   * Resolves, when the attempt may be made, with the function that ends it; with undefined if `who` is locked out, or has fewer
   * attempts left than the `weight` guesses that it has. An attempt that became unnecessary while it waited does not count.
   */
  async begin(who: string, weight: number, isNeedless: () => boolean): Promise<OnLockout | undefined> {
    for (;;) {
      if (isNeedless()) return () => false
      if (this.lockedFor(who) > 0) return undefined
      const tally = this.#tallyOf(who)
      const room = this.#settings.limit - tally.failures
      if (tally.underWay + weight <= room) return this.#under(tally, weight)
      if (tally.underWay === 0) return undefined
      await new Promise<void>((resume) => tally.queue.push(resume))
    }
  }

  #under(tally: Tally, weight: number): OnLockout {
    tally.underWay += weight
    let ended = false
    return (outcome) => {
      if (!ended) tally.underWay -= weight
      ended = true
      const locks = outcome === 'failed' && this.#count(tally, weight)
      for (const resume of tally.queue.splice(0)) resume()
      return locks
    }
  }

  /** Count a failure. Returns whether it locks. */
  #count(tally: Tally, weight: number): boolean {
    const { limit, lockMs, now } = this.#settings
    const before = tally.failures
    tally.failures += weight
    // The time runs from the first failure, and again from the one that locks; later failures do not extend it.
    const locks = before < limit && tally.failures >= limit
    if (before === 0 || locks) tally.until = now() + lockMs
    if (locks) this.#lock(tally)
    return locks
  }

  /** Move a tally to the end of the locked ones, where it stays until its time is over: all are locked for equally long. */
  #lock(tally: Tally): void {
    this.#tallies.delete(tally.who)
    this.#locked.delete(tally.who)
    this.#locked.set(tally.who, tally)
  }

  #tallyOf(who: string): Tally {
    const known = this.#tallies.get(who) ?? { who, failures: 0, underWay: 0, until: 0, queue: [] }
    if (known.failures > 0 && this.#settings.now() >= known.until) known.failures = 0
    this.#tallies.delete(who)
    this.#tallies.set(who, known)
    if (this.#tallies.size > MAX_TALLIES) this.#forgetOne()
    return known
  }

  #lockedTally(who: string): Tally | undefined {
    for (const [oldest, { until }] of this.#locked) {
      if (this.#settings.now() < until) break
      this.#locked.delete(oldest)
    }
    return this.#locked.get(who)
  }

  /** Forget the tally that was used least recently; its running attempts keep their own reference. */
  #forgetOne(): void {
    this.#tallies.delete(this.#tallies.keys().next().value as string)
  }
}
