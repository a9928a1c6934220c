import { type Numbered, numberedFrames } from './messages.ts'

/** A larger message is sent by itself, without a copy. */
const MAX_COPIED_BYTES = 16 * 1024
/** A batch that reaches this size is sent at once. */
const MAX_BATCH_BYTES = 256 * 1024

/** Collects the requests or answers of one turn of the event loop, and sends them as one message. */
export class TurnBatch {
  readonly #send: (frames: (string | Uint8Array)[]) => Promise<void>
  #messages: Numbered[] = []
  #bytes = 0
  #sent = Promise.resolve()

  constructor(send: (frames: (string | Uint8Array)[]) => Promise<void>) {
    this.#send = send
  }

  add(message: Numbered): void {
    const { length } = message.payload
    if (length > MAX_COPIED_BYTES) {
      this.#sent = this.#send(numberedFrames([message]))
      return
    }
    if (this.#messages.push(message) === 1) setImmediate(() => this.flush())
    this.#bytes += length
    if (this.#bytes >= MAX_BATCH_BYTES) void this.flush()
  }

  /** Send the collected messages. Resolves when ZeroMQ has accepted all messages that were added. */
  flush(): Promise<void> {
    if (this.#messages.length > 0) {
      this.#sent = this.#send(numberedFrames(this.#messages))
      this.#messages = []
      this.#bytes = 0
    }
    return this.#sent
  }
}
