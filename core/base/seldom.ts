/** Milliseconds. */
const PERIOD_MS = 60_000
/** Different things that are remembered at once. */
const MOST = 100

interface Told {
  /** When it may be told again. */
  readonly until: number
  /** So often it was not told since. */
  untold: number
}

/**
 * Tells the same at most once in a while: what goes wrong with every job would fill the log. `about` is what makes two
 * sentences the same; `untold` is how often that was held back since it was told last.
 */
export function seldom(
  say: (sentence: string, untold: number) => void,
  periodMs = PERIOD_MS,
): (sentence: string, about?: string) => void {
  /** The oldest first. */
  const told = new Map<string, Told>()
  return (sentence, about = sentence) => {
    const now = performance.now()
    const before = told.get(about)
    if (before && now < before.until) {
      before.untold++
      return
    }
    told.delete(about)
    told.set(about, { until: now + periodMs, untold: 0 })
    const [oldest] = told.keys()
    if (told.size > MOST && oldest !== undefined) told.delete(oldest)
    say(sentence, before?.untold ?? 0)
  }
}
