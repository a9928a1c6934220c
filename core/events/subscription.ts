import { BoundedQueue } from '../transport/bounded-queue.ts'
import type { Event } from './event.ts'

export interface SubscribeOptions {
  /** Events and bytes that may wait to be read; beyond that the oldest are dropped. */
  readonly maxEvents?: number
  readonly maxBytes?: number
  /** Some were missed: their number where this reader was too slow, undefined where the connection was lost. */
  readonly onGap?: (missed: number | undefined) => void
}

const MAX_EVENTS = 10_000
const MAX_BYTES = 64 * 1024 * 1024

interface Entry {
  readonly event: Event
  readonly size: number
}

/** Events of some tags, for one reader. Ends when it is closed, or with the bus. */
export class Subscription implements AsyncIterable<Event> {
  readonly matches: (tag: string) => boolean
  readonly #options: SubscribeOptions
  readonly #queue: BoundedQueue<Entry>
  readonly #onClose: () => void
  #bytes = 0

  constructor(match: string | ((tag: string) => boolean), options: SubscribeOptions, onClose: () => void) {
    this.matches = typeof match === 'string' ? (tag) => tag.startsWith(match) : match
    this.#options = options
    this.#queue = new BoundedQueue(Number.POSITIVE_INFINITY)
    this.#onClose = onClose
  }

  /** An event has come; `size` in bytes. */
  deliver(event: Event, size: number): void {
    const { maxEvents = MAX_EVENTS, maxBytes = MAX_BYTES, onGap } = this.#options
    let missed = 0
    while (this.#queue.length > 0 && (this.#queue.length >= maxEvents || this.#bytes + size > maxBytes)) {
      this.#bytes -= this.#queue.shift()?.size ?? 0
      missed++
    }
    this.#queue.offer({ event, size })
    this.#bytes += size
    if (missed > 0) onGap?.(missed)
  }

  /** The connection was lost for a while. */
  interrupted(): void {
    this.#options.onGap?.(undefined)
  }

  close(): void {
    this.#queue.close()
    this.#onClose()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    try {
      for await (const { event, size } of this.#queue) {
        this.#bytes -= size
        yield event
      }
    } finally {
      this.close()
    }
  }
}
