import { BoundedQueue } from '../transport/bounded-queue.ts'
import type { Event } from './event.ts'

export interface SubscribeOptions {
  /** Events and bytes that may wait to be read; beyond that the oldest are dropped. */
  readonly maxEvents?: number
  readonly maxBytes?: number
  /** Some were missed: their number where this reader was too slow, undefined where the connection was lost. */
  readonly onGap?: (missed: number | undefined) => void
  /** For who reads with `shift`: an event has come, or the end. */
  readonly onNews?: () => void
}

/** What the tags begin with that are wanted, or a function that picks them. */
export type Match = string | readonly string[] | ((tag: string) => boolean)

/** Where subscriptions are found by the texts that tags begin with. */
interface Index {
  include(subscription: Subscription, text: string): void
  exclude(subscription: Subscription, text: string): void
  closed(subscription: Subscription): void
}

const MAX_EVENTS = 10_000
const MAX_BYTES = 64 * 1024 * 1024

interface Entry {
  readonly event: Event
  /** Bytes. */
  readonly size: number
}

/** Events of some tags, for one reader. Ends when it is closed, or with the bus. */
export class Subscription implements AsyncIterable<Event> {
  /** Undefined where it goes by texts. */
  readonly picks: ((tag: string) => boolean) | undefined
  readonly #texts = new Set<string>()
  readonly #options: SubscribeOptions
  readonly #queue: BoundedQueue<Entry>
  readonly #index: Index
  #bytes = 0
  #closed = false

  constructor(match: Match, options: SubscribeOptions, index: Index) {
    this.picks = typeof match === 'function' ? match : undefined
    this.#options = options
    this.#queue = new BoundedQueue(Number.POSITIVE_INFINITY)
    this.#index = index
    if (typeof match !== 'function') for (const text of [match].flat()) this.include(text)
  }

  /** From now on also events whose tag begins with the text. */
  include(text: string): void {
    if (this.#closed) return
    this.#texts.add(text)
    this.#index.include(this, text)
  }

  /** No longer those. */
  exclude(text: string): void {
    if (this.#texts.delete(text)) this.#index.exclude(this, text)
  }

  /** An event has come; `size` in bytes. */
  deliver(event: Event, size: number): void {
    const { maxEvents = MAX_EVENTS, maxBytes = MAX_BYTES, onGap, onNews } = this.#options
    let missed = 0
    while (this.#queue.length > 0 && (this.#queue.length >= maxEvents || this.#bytes + size > maxBytes)) {
      this.#bytes -= this.#queue.shift()?.size ?? 0
      missed++
    }
    this.#queue.offer({ event, size })
    this.#bytes += size
    if (missed > 0) onGap?.(missed)
    onNews?.()
  }

  /** The connection was lost for a while. */
  interrupted(): void {
    this.#options.onGap?.(undefined)
  }

  get closed(): boolean {
    return this.#closed
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#queue.close()
    for (const text of this.#texts) this.#index.exclude(this, text)
    this.#texts.clear()
    this.#index.closed(this)
    this.#options.onNews?.()
  }

  /** The oldest event that waits to be read. */
  shift(): Entry | undefined {
    const entry = this.#queue.shift()
    if (entry) this.#bytes -= entry.size
    return entry
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
