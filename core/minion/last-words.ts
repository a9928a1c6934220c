import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** Characters. */
const KEPT = 8192
/** A process that is over may have left one that has its standard error open. Milliseconds. */
const WAIT_MS = 200

/** What a process writes to standard error goes to that of this one; the end of it is kept, as it tells of what V8 dies. */
export class LastWords {
  #text = ''
  readonly #ended: Promise<void>

  constructor(stream: Readable | null) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      process.stderr.write(text)
      this.#text = (this.#text + text).slice(-KEPT)
    })
    this.#ended = new Promise((resolve) => (stream ? stream.once('close', resolve) : resolve()))
  }

  /** All of it, when the process is over. */
  async all(): Promise<string> {
    await Promise.race([this.#ended, delay(WAIT_MS, undefined, { ref: false })])
    return this.#text
  }
}
