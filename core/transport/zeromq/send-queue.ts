import type { MessageLike } from 'zeromq'

interface Waiting {
  readonly frames: MessageLike[]
  resolve(): void
  reject(reason: unknown): void
}

/** What a ZeroMQ socket that sends has. */
export interface FrameWriter {
  send(frames: MessageLike[]): Promise<void>
}

/**
 * Sends messages one after the other, in the order of the calls, since a ZeroMQ socket accepts only one send at a time.
 */
export class SendQueue {
  readonly #socket: FrameWriter
  readonly #waiting: Waiting[] = []
  #sending = false

  constructor(socket: FrameWriter) {
    this.#socket = socket
  }

  /** Send a message. Resolves when ZeroMQ has accepted it; rejects if the socket is closed. */
  send(frames: MessageLike[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ frames, resolve, reject })
      if (!this.#sending) void this.#pump()
    })
  }

  async #pump(): Promise<void> {
    this.#sending = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      try {
        await this.#socket.send(next.frames)
        next.resolve()
      } catch (error) {
        next.reject(error)
      }
    }
    this.#sending = false
  }
}
