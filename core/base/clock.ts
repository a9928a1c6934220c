/** The source of time; tests pass in their own. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number
}

/** A clock for durations within one process. Setting the host's clock does not affect it. */
export const monotonicClock: Clock = { now: () => performance.timeOrigin + performance.now() }

export const systemClock: Clock = { now: () => Date.now() }
