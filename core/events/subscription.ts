import { BoundedQueue } from '../transport/bounded-queue.ts'
import type { Event } from './event.ts'

export interface SubscribeOptions {
  /** Maximum number of unread events. Beyond it the oldest are dropped. */
  readonly maxEvents?: number
  /** Maximum size of unread events in bytes. Beyond it the oldest are dropped. */
  readonly maxBytes?: number
  /** Called when events were missed: with their number if this reader was too slow, with undefined if the connection was lost. */
  readonly onGap?: (missed: number | undefined) => void
  /** Called when an event has arrived or the subscription has ended, for readers that use `shift`. */
  readonly onReadable?: () => void
}

/** One or more prefixes of tags, or a function that selects tags. */
export type Match = string | readonly string[] | ((tag: string) => boolean)

/** The index of subscriptions by prefix, which a subscription updates. */
interface Index {
  include(subscription: Subscription, text: string): void
  exclude(subscription: Subscription, text: string): void
  closed(subscription: Subscription): void
}

const MAX_EVENTS = 10_000
const MAX_BYTES = 64 * 1024 * 1024

interface Entry {
  readonly event: Event
  /** Size in bytes. */
  readonly size: number
}

/** Events with selected tags, for one reader. It ends when it is closed, or with the bus. */
export class Subscription implements AsyncIterable<Event> {
  /** The function that selects tags; undefined if prefixes do. */
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

  /** Also select events whose tag begins with `text`. */
  include(text: string): void {
    if (this.#closed) return
    this.#texts.add(text)
    this.#index.include(this, text)
  }

  /** No longer select events whose tag begins with `text`. */
  exclude(text: string): void {
    if (this.#texts.delete(text)) this.#index.exclude(this, text)
  }

  /** Queue an event. `size` is in bytes. */
  deliver(event: Event, size: number): void {
    const { maxEvents = MAX_EVENTS, maxBytes = MAX_BYTES, onGap, onReadable } = this.#options
    let missed = 0
    while (this.#queue.length > 0 && (this.#queue.length >= maxEvents || this.#bytes + size > maxBytes)) {
      this.#bytes -= this.#queue.shift()?.size ?? 0
      missed++
    }
    this.#queue.offer({ event, size })
    this.#bytes += size
    if (missed > 0) onGap?.(missed)
    onReadable?.()
  }

  /** Report that the connection was lost for a while. */
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
    this.#options.onReadable?.()
  }

  /** Remove and return the oldest unread event. */
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
