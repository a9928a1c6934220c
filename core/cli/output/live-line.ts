/** A status line on the terminal, which is erased before anything else is written. */
import type { JobCounts } from '../../client/index.ts'
import { registerLiveLine } from './console.ts'

/** Jobs that end sooner show no line: it would only flicker. */
const FIRST_PAINT_MS = 300
const REPAINT_INTERVAL_MS = 100

/** Move to the first column and erase the line. */
const ERASE = '\r\x1b[K'

export interface LiveSettings {
  /** The terminal. */
  readonly stream: Pick<NodeJS.WriteStream, 'write' | 'columns'>
  /** Return the line. It is cut off at `width`. */
  line(elapsedMs: number, width: number): string
  /** Keep the last line. */
  readonly stays?: boolean
  now?(): number
}

export class LiveLine {
  readonly #settings: LiveSettings
  readonly #startedAt: number
  readonly #unregister: () => void
  #timer: NodeJS.Timeout
  /** The text on the terminal now. */
  #painted = ''

  constructor(settings: LiveSettings) {
    this.#settings = settings
    this.#startedAt = this.#now()
    this.#unregister = registerLiveLine(() => this.#erase())
    this.#timer = setTimeout(() => {
      this.#paint()
      this.#timer = setInterval(() => this.#paint(), REPAINT_INTERVAL_MS)
    }, FIRST_PAINT_MS)
  }

  /** Erase the line. It comes back with the next repaint. */
  #erase(): void {
    if (this.#painted !== '') this.#settings.stream.write(ERASE)
    this.#painted = ''
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#unregister()
    if (this.#settings.stays) {
      this.#paint()
      this.#settings.stream.write('\n')
    } else this.#erase()
  }

  #paint(): void {
    const { stream, line } = this.#settings
    const width = Math.max(0, (stream.columns || 80) - 1)
    const text = line(this.#now() - this.#startedAt, width).slice(0, width)
    if (text === this.#painted) return
    stream.write(ERASE + text)
    this.#painted = text
  }

  #now(): number {
    return (this.#settings.now ?? Date.now)()
  }
}

/** `returned 12/40, running 3, silent 25 (4 reconnecting), 0:07` */
export function statusText(counts: JobCounts, elapsedMs: number): string {
  const { expected, returned, running, silent, missing, reconnecting, waiting } = counts
  const back = reconnecting > 0 ? ` (${reconnecting} reconnecting)` : ''
  const away = waiting > 0 ? `, waiting ${waiting}` : ''
  const given = missing > 0 ? `, given up ${missing}` : ''
  return `returned ${returned}/${expected}, running ${running}, silent ${silent}${back}${away}${given}, ${clock(elapsedMs)}`
}

/** `1:02:03`, `2:03` */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const rest = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
