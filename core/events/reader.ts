import type { Socket } from 'node:net'
import type { EventLog } from './event-log.ts'

/** Written in one go. Bytes. */
const BATCH = 64 * 1024
/** How long a reader may take for the rest when the publisher closes. Milliseconds. */
const FINISH_MS = 500

/** One connected reader of the event bus, and how far it has got in the log. */
export class Reader {
  readonly #socket: Socket
  readonly #log: EventLog
  #position: number
  #waiting = false

  /** `onEnd` is called once, with a reason if the reader was cut off. */
  constructor(socket: Socket, log: EventLog, onEnd: (reason?: string) => void) {
    this.#socket = socket
    this.#log = log
    this.#position = log.end
    let reason: string | undefined
    this.#cut = (why) => {
      reason = why
      socket.destroy()
    }
    socket.on('drain', () => {
      this.#waiting = false
      this.pump()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => onEnd(reason))
    socket.resume() // Readers send nothing; this notices their end.
  }

  readonly #cut: (reason: string) => void

  /** The next frame it needs. */
  get position(): number {
    return this.#position
  }

  /** Write what it has not got, as far as it takes it. */
  pump(): void {
    if (this.#position < this.#log.first) this.#cut('it does not keep up with the events')
    while (!this.#waiting && this.#position < this.#log.end && this.#socket.writable) {
      this.#writeBatch()
    }
  }

  /** Write the rest, then end the connection. */
  async finish(): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.once('close', resolve))
    const timer = setTimeout(() => this.#socket.destroy(), FINISH_MS)
    const endWhenDone = () => {
      if (this.#position === this.#log.end) this.#socket.end(() => this.#socket.destroy())
    }
    this.#socket.on('drain', endWhenDone)
    endWhenDone()
    await closed
    clearTimeout(timer)
  }

  #writeBatch(): void {
    this.#socket.cork()
    for (let size = 0; size < BATCH && this.#position < this.#log.end; this.#position++) {
      const frame = this.#log.at(this.#position) as Buffer
      size += frame.length
      this.#waiting = !this.#socket.write(frame)
    }
    this.#socket.uncork()
  }
}
