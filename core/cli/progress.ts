/** What is shown of a job while it runs: a status line, the bar of `--progress`, or neither. */
import type { JobCounts } from '../client/index.ts'
import { tell } from './console.ts'
import { LiveLine, statusText } from './live-line.ts'

const BAR = 30
/** Where there is no terminal a line tells of every so many percent. */
const STEP = 10
const LOOK_MS = 200

export interface LiveChoice {
  /** `--progress`. */
  readonly bar: boolean
  /** Results go to the terminal, too. */
  readonly onTerminal: boolean
}

export interface Live {
  /** Nothing more comes of the job. */
  end(): void
}

export function openLive(counts: () => JobCounts, { bar, onTerminal }: LiveChoice): Live | undefined {
  const stream = process.stderr
  const isTerminal = stream.isTTY === true && process.env.TERM !== 'dumb'
  if (bar && isTerminal)
    return new LiveLine({
      stream,
      line: (ms, width) => barLine(counts(), ms, width),
      stays: true,
    })
  if (bar) return tellSteps(counts)
  if (!isTerminal || !onTerminal) return undefined
  return new LiveLine({ stream, line: (ms) => statusText(counts(), ms) })
}

/** Who was given up is through with it, too. */
const partOf = ({ expected, returned, missing }: JobCounts): number =>
  expected === 0 ? 1 : (returned + missing) / expected

/** The bar is as long as there is room beside the numbers. */
function barLine(counts: JobCounts, elapsedMs: number, width: number): string {
  const part = partOf(counts)
  const numbers = `${String(Math.floor(part * 100)).padStart(3)} % ${statusText(counts, elapsedMs)}`
  const length = Math.min(BAR, width - numbers.length - '[] '.length)
  if (length < 1) return numbers
  const filled = Math.floor(part * length)
  return `[${'#'.repeat(filled)}${'-'.repeat(length - filled)}] ${numbers}`
}

/** In a log there is a line for every tenth, at most. */
function tellSteps(counts: () => JobCounts): Live {
  const begun = Date.now()
  let told = 0
  const look = () => {
    const step = Math.floor((partOf(counts()) * 100) / STEP) * STEP
    if (step <= told) return
    told = step
    tell(`${step} %: ${statusText(counts(), Date.now() - begun)}`)
  }
  const timer = setInterval(look, LOOK_MS)
  return {
    end() {
      clearInterval(timer)
      look()
    },
  }
}
