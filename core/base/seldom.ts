/** Milliseconds. */
const PERIOD_MS = 60_000

/**
 * Tells the same at most once in a while: what goes wrong with every job would fill the log. `about` is what makes two
 * sentences the same.
 */
export function seldom(
  say: (sentence: string) => void,
  periodMs = PERIOD_MS,
): (sentence: string, about?: string) => void {
  let told = { about: '', until: 0 }
  return (sentence, about = sentence) => {
    const now = performance.now()
    if (about === told.about && now < told.until) return
    told = { about, until: now + periodMs }
    say(sentence)
  }
}
