/** What an attempt came to. Of the ones that came to nothing (no answer of the master) nothing is known. */
export type Outcome = 'failed' | 'passed' | 'unknown'

export interface AttemptSettings {
  /** Failures until whoever it is has to wait. */
  readonly limit: number
  /** How long failures are counted, and how long is to be waited then. Milliseconds. */
  readonly lockMs: number
  readonly now?: () => number
}

/** Whether `who` is locked out from now on. */
export type Tell = (outcome: Outcome) => boolean

interface Tally {
  readonly who: string
  failures: number
  underWay: number
  /** When the failures are forgotten. */
  until: number
  readonly queue: (() => void)[]
}

/** Who is remembered besides those that are locked out, at most. */
const MAX_TALLIES = 10_000

/** More attempts than may still fail are not made at once: one that refuses slowly lets no more of them through. */
export class Attempts {
  readonly #settings: Required<AttemptSettings>
  readonly #tallies = new Map<string, Tally>()
  /** Those that are locked out, the first to be let in again first. As many guesses as lock are made for each of them. */
  readonly #locked = new Map<string, Tally>()

  constructor(settings: AttemptSettings) {
    this.#settings = { now: () => performance.now(), ...settings }
  }

  /** How long `who` is locked out, in milliseconds; 0 if it is not. */
  lockedFor(who: string): number {
    const tally = this.#lockedTally(who)
    return tally ? tally.until - this.#settings.now() : 0
  }

  /**
   * Resolves when the attempt may be made, with what is to be told its outcome, and says whether `who` has to wait from
   * now on; with undefined if `who` is locked out, or has fewer attempts left than the `weight` guesses that are in it.
   * One that has become needless while it waited counts for nothing.
   */
  async begin(who: string, weight: number, isNeedless: () => boolean): Promise<Tell | undefined> {
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

  #under(tally: Tally, weight: number): Tell {
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

  /** Whether that locks. */
  #count(tally: Tally, weight: number): boolean {
    const { limit, lockMs, now } = this.#settings
    const before = tally.failures
    tally.failures += weight
    // From the first failure on, and again from the one that locks; what fails later makes it no longer.
    const locks = before < limit && tally.failures >= limit
    if (before === 0 || locks) tally.until = now() + lockMs
    if (locks) this.#lock(tally)
    return locks
  }

  /** From now on it is remembered until its time is over, last of all: they are all locked for as long. */
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

  /** The one that was seen least lately; its attempts under way, if any, keep their own count of it. */
  #forgetOne(): void {
    this.#tallies.delete(this.#tallies.keys().next().value as string)
  }
}
