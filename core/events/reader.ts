import type { Socket } from 'node:net'
import type { EventLog } from './event-log.ts'

/** Bytes that are written in one batch. */
const BATCH_BYTES = 64 * 1024
/** Time that a reader has for the remaining events when the publisher closes. */
const FINISH_MS = 500

/** One connected reader of the event bus, with its position in the log. */
export class EventReader {
  readonly #socket: Socket
  readonly #log: EventLog
  #position: number
  #waiting = false

  /** `onEnd` is called once, with a reason if the reader was disconnected by this side. */
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
    socket.resume() // Readers send nothing; reading detects that they disconnect.
  }

  readonly #cut: (reason: string) => void

  /** Position of the next frame to write. */
  get position(): number {
    return this.#position
  }

  /** Write pending frames until the socket's buffer is full. */
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
    for (let size = 0; size < BATCH_BYTES && this.#position < this.#log.end; this.#position++) {
      const frame = this.#log.at(this.#position) as Buffer
      size += frame.length
      this.#waiting = !this.#socket.write(frame)
    }
    this.#socket.uncork()
  }
}
