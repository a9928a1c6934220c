/** Where time comes from, so that tests can hand in their own. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
