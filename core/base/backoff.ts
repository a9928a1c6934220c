interface BackoffSettings {
  /** The first delay lies between half of this and this, in milliseconds. */
  readonly minMs: number
  /** The longest delay, in milliseconds. */
  readonly maxMs: number
  /** Growth per attempt; 2 by default. */
  readonly factor?: number
  /** Returns numbers in [0, 1); tests replace it. `Math.random` by default. */
  readonly random?: () => number
}

/** Delays between attempts: growing, capped, and jittered so that peers do not reconnect all at once. */
export interface Backoff {
  /** The next delay in milliseconds, between half of the nominal one and the nominal one. */
  next(): number
  /** Start over after a success. */
  reset(): void
}

export function backoff({ minMs, maxMs, factor = 2, random = Math.random }: BackoffSettings): Backoff {
  const first = Math.min(minMs, maxMs)
  let nominal = first
  return {
    next() {
      const delay = nominal * (0.5 + random() / 2)
      nominal = Math.min(nominal * factor, maxMs)
      return Math.round(delay)
    },
    reset() {
      nominal = first
    },
  }
}
