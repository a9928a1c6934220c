/** Where time comes from, so that tests can hand in their own. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number
}

/** Measures how long something takes or lasts within one process, however the host's clock is set. */
export const monotonicClock: Clock = { now: () => performance.timeOrigin + performance.now() }

export const systemClock: Clock = { now: () => Date.now() }
