const MINUTE_MS = 60_000

/**
 * So many a minute, of what strangers can cause. Each call asks for one: how many were left out before it; undefined if
 * it is left out, too.
 */
export function quota(perMinute: number, now: () => number): () => number | undefined {
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
