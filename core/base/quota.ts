const MINUTE_MS = 60_000

/**
 * Return a limiter for reports that unauthenticated peers can cause. Each call requests one: it returns the number that
 * were left out before it, or undefined if this one must be left out, too.
 */
export function perMinuteQuota(perMinute: number, now: () => number): () => number | undefined {
  let [since, taken, leftOut] = [now(), 0, 0]
  return () => {
    if (now() - since >= MINUTE_MS) [since, taken] = [now(), 0]
    if (++taken > perMinute) {
      leftOut++
      return undefined
    }
    const before = leftOut
    leftOut = 0
    return before
  }
}
