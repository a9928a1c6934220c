const PERIOD_MS = 60_000
/** Lines of a period that are alike but not the same: they differ in numbers, or in what is shown behind the sentence. */
const ALIKE = 10
/** Different lines that are remembered at once. */
const MOST = 1000

interface Flood {
  written: number
  leftOut: number
  /** The latest that was left out. */
  line: string
  /** Writes how many were left out. */
  tell: (line: string, leftOut: number) => void
}

/**
 * Says which lines are written: of the same line one a minute, of those that differ in nothing but numbers ten. The others
 * are counted, and told at the end of that minute.
 */
export class Floods {
  readonly #floods = new Map<string, Flood>()
  readonly #periodMs: number
  #period: NodeJS.Timeout | undefined

  constructor(periodMs = PERIOD_MS) {
    this.#periodMs = periodMs
  }

  /** @param hasFacts whether more is shown than the line, which nobody compares */
  admits(source: string, line: string, hasFacts: boolean, tell: Flood['tell']): boolean {
    const same = this.#flood(`${source}\0${line}`, line, tell)
    const alike = this.#flood(`${source}\0${line.replace(/\d+/g, '#')}\0alike`, line, tell)
    if (!hasFacts && same.written > 0) return this.#leaveOut(same, line)
    if (alike.written >= ALIKE) return this.#leaveOut(alike, line)
    same.written++
    alike.written++
    this.#period ??= setTimeout(() => this.flush(), this.#periodMs).unref()
    return true
  }

  /** Tell what was left out, and begin anew. */
  flush(): void {
    clearTimeout(this.#period)
    this.#period = undefined
    const all = [...this.#floods.values()]
    this.#floods.clear()
    for (const { leftOut, line, tell } of all) if (leftOut > 0) tell(line, leftOut)
  }

  #leaveOut(flood: Flood, line: string): false {
    flood.leftOut++
    flood.line = line
    return false
  }

  #flood(key: string, line: string, tell: Flood['tell']): Flood {
    const known = this.#floods.get(key)
    if (known) return known
    if (this.#floods.size >= MOST) this.flush()
    const flood = { written: 0, leftOut: 0, line, tell }
    this.#floods.set(key, flood)
    return flood
  }
}

export const andMore = (line: string, leftOut: number): string =>
  `${line} … and ${leftOut === 1 ? 'one' : leftOut} more like it in the last minute.`
