/** One line on the terminal that shows how far a job is, and is gone before anything else is written. */
import type { JobCounts } from '../client/index.ts'
import { standsAside } from './console.ts'

/** Of a job that is over before, nothing is shown: it would only flicker. Milliseconds. */
const PATIENCE_MS = 300
const REPAINT_MS = 100

/** Back to the first column, and the rest of the line away. */
const ERASE = '\r\x1b[K'

export interface LiveSettings {
  /** A terminal. */
  readonly stream: Pick<NodeJS.WriteStream, 'write' | 'columns'>
  /** The line; what is longer than `width` is cut off. */
  line(elapsedMs: number, width: number): string
  /** The last line stays. */
  readonly stays?: boolean
  now?(): number
}

export class LiveLine {
  readonly #settings: LiveSettings
  readonly #begun: number
  readonly #leave: () => void
  #timer: NodeJS.Timeout
  /** What is on the terminal now. */
  #painted = ''

  constructor(settings: LiveSettings) {
    this.#settings = settings
    this.#begun = this.#now()
    this.#leave = standsAside(() => this.#erase())
    this.#timer = setTimeout(() => {
      this.#paint()
      this.#timer = setInterval(() => this.#paint(), REPAINT_MS)
    }, PATIENCE_MS)
  }

  /** Something else is written now; it comes back with the next repaint. */
  #erase(): void {
    if (this.#painted !== '') this.#settings.stream.write(ERASE)
    this.#painted = ''
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#leave()
    if (this.#settings.stays) {
      this.#paint()
      this.#settings.stream.write('\n')
    } else this.#erase()
  }

  #paint(): void {
    const { stream, line } = this.#settings
    const width = Math.max(0, (stream.columns || 80) - 1)
    const text = line(this.#now() - this.#begun, width).slice(0, width)
    if (text === this.#painted) return
    stream.write(ERASE + text)
    this.#painted = text
  }

  #now(): number {
    return (this.#settings.now ?? Date.now)()
  }
}

/** `returned 12/40, running 3, silent 25, 0:07` */
export function statusText(counts: JobCounts, elapsedMs: number): string {
  const { expected, returned, running, silent, missing } = counts
  const given = missing > 0 ? `, given up ${missing}` : ''
  return `returned ${returned}/${expected}, running ${running}, silent ${silent}${given}, ${clock(elapsedMs)}`
}

/** `1:02:03`, `2:03` */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const rest = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
