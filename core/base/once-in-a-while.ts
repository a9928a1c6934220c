const PERIOD_MS = 60_000
/** Different subjects that are remembered at once. */
const MAX_SUBJECTS = 100

interface Reported {
  /** When the subject may be reported again, in milliseconds of `performance.now()`. */
  readonly until: number
  /** Reports that were suppressed since the last one. */
  suppressed: number
}

/**
 * Limit how often the same thing is reported: a problem that occurs with every job would fill the log. `about` is the
 * subject by which two sentences count as the same; `suppressed` is the number of reports left out since the last one.
 */
export function onceInAWhile(
  report: (sentence: string, suppressed: number) => void,
  periodMs = PERIOD_MS,
): (sentence: string, about?: string) => void {
  /** By subject, least recently reported first. */
  const reported = new Map<string, Reported>()
  return (sentence, about = sentence) => {
    const now = performance.now()
    const before = reported.get(about)
    if (before && now < before.until) {
      before.suppressed++
      return
    }
    reported.delete(about)
    reported.set(about, { until: now + periodMs, suppressed: 0 })
    const [oldest] = reported.keys()
    if (reported.size > MAX_SUBJECTS && oldest !== undefined) reported.delete(oldest)
    report(sentence, before?.suppressed ?? 0)
  }
}
