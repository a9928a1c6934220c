/** Milliseconds. */
const PERIOD_MS = 60_000
/** Different things that are remembered at once. */
const MOST = 100

/**
 * Tells the same at most once in a while: what goes wrong with every job would fill the log. `about` is what makes two
 * sentences the same.
 */
export function seldom(
  say: (sentence: string) => void,
  periodMs = PERIOD_MS,
): (sentence: string, about?: string) => void {
  /** Until when each is not told again, the oldest first. */
  const told = new Map<string, number>()
  return (sentence, about = sentence) => {
    const now = performance.now()
    if (now < (told.get(about) ?? 0)) return
    told.delete(about)
    told.set(about, now + periodMs)
    const [oldest] = told.keys()
    if (told.size > MOST && oldest !== undefined) told.delete(oldest)
    say(sentence)
  }
}
