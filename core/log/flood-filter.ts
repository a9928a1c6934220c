const PERIOD_MS = 60_000
/** Maximum number of similar lines in a period: they differ only in numbers, or in the facts after the message. */
const MAX_SIMILAR_LINES = 10
/** Maximum number of different lines that are tracked at once. */
const MAX_REMEMBERED_LINES = 1000

interface Flood {
  written: number
  leftOut: number
  /** The last line that was left out. */
  line: string
  /** Write how many lines were left out. */
  report: (line: string, leftOut: number) => void
}

/**
 * Decides which lines are written: in each minute one of equal lines, and ten of lines that differ only in numbers. The others are
 * counted, and the count is written at the end of that minute.
 */
export class FloodFilter {
  readonly #floods = new Map<string, Flood>()
  readonly #periodMs: number
  #period: NodeJS.Timeout | undefined

  constructor(periodMs = PERIOD_MS) {
    this.#periodMs = periodMs
  }

  /**
   * Return whether a line is written, and count it. `hasFacts` is true if the line has facts, which are not compared. `report` is
   * called at the end of the period with the number of lines that were left out.
   */
  admits(source: string, line: string, hasFacts: boolean, report: Flood['report']): boolean {
    const same = this.#flood(`${source}\0${line}`, line, report)
    const alike = this.#flood(`${source}\0${line.replace(/\d+/g, '#')}\0alike`, line, report)
    if (!hasFacts && same.written > 0) return this.#leaveOut(same, line)
    if (alike.written >= MAX_SIMILAR_LINES) return this.#leaveOut(alike, line)
    same.written++
    alike.written++
    this.#period ??= setTimeout(() => this.flush(), this.#periodMs).unref()
    return true
  }

  /** Report the lines that were left out, and begin a new period. */
  flush(): void {
    clearTimeout(this.#period)
    this.#period = undefined
    const all = [...this.#floods.values()]
    this.#floods.clear()
    for (const { leftOut, line, report } of all) if (leftOut > 0) report(line, leftOut)
  }

  #leaveOut(flood: Flood, line: string): false {
    flood.leftOut++
    flood.line = line
    return false
  }

  #flood(key: string, line: string, report: Flood['report']): Flood {
    const known = this.#floods.get(key)
    if (known) return known
    if (this.#floods.size >= MAX_REMEMBERED_LINES) this.flush()
    const flood = { written: 0, leftOut: 0, line, report }
    this.#floods.set(key, flood)
    return flood
  }
}

export const repeatedLine = (line: string, leftOut: number): string =>
  `${line} … and ${leftOut === 1 ? 'one' : leftOut} more like it in the last minute.`
