/** Progress of a running job: a status line, the bar of `--progress`, or nothing. */
import type { JobCounts } from '../../client/index.ts'
import { printNote } from '../output/console.ts'
import { LiveLine, statusText } from '../output/live-line.ts'

const MAX_BAR_WIDTH = 30
/** Without a terminal, a line is printed each time this many percent are done. */
const STEP_PERCENT = 10
const POLL_INTERVAL_MS = 200

export interface ProgressSettings {
  /** `--progress`. */
  readonly bar: boolean
  /** Results are printed to the same terminal. */
  readonly onTerminal: boolean
}

export interface ProgressDisplay {
  /** The job has ended. */
  end(): void
}

export function openProgress(
  counts: () => JobCounts,
  { bar, onTerminal }: ProgressSettings,
): ProgressDisplay | undefined {
  const stream = process.stderr
  const isTerminal = stream.isTTY === true && process.env.TERM !== 'dumb'
  if (bar && isTerminal)
    return new LiveLine({
      stream,
      line: (ms, width) => barLine(counts(), ms, width),
      stays: true,
    })
  if (bar) return printSteps(counts)
  if (!isTerminal || !onTerminal) return undefined
  return new LiveLine({ stream, line: (ms) => statusText(counts(), ms) })
}

/** Return the part that is done; minions that were given up count. */
const partOf = ({ expected, returned, missing }: JobCounts): number =>
  expected === 0 ? 1 : (returned + missing) / expected

/** Return the bar, as long as the terminal has room beside the numbers. */
function barLine(counts: JobCounts, elapsedMs: number, width: number): string {
  const part = partOf(counts)
  const numbers = `${String(Math.floor(part * 100)).padStart(3)} % ${statusText(counts, elapsedMs)}`
  const length = Math.min(MAX_BAR_WIDTH, width - numbers.length - '[] '.length)
  if (length < 1) return numbers
  const filled = Math.floor(part * length)
  return `[${'#'.repeat(filled)}${'-'.repeat(length - filled)}] ${numbers}`
}

/** Print a line for every tenth of the minions, for logs. */
function printSteps(counts: () => JobCounts): ProgressDisplay {
  const startedAt = Date.now()
  let printed = 0
  const printStep = () => {
    const step = Math.floor((partOf(counts()) * 100) / STEP_PERCENT) * STEP_PERCENT
    if (step <= printed) return
    printed = step
    printNote(`${step} %: ${statusText(counts(), Date.now() - startedAt)}`)
  }
  const timer = setInterval(printStep, POLL_INTERVAL_MS)
  return {
    end() {
      clearInterval(timer)
      printStep()
    },
  }
}
