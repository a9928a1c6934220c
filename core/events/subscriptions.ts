import type { readEvent } from './event.ts'
import { type Match, type SubscribeOptions, Subscription } from './subscription.ts'

/**
 * Who listens over one connection. What an event costs does not grow with the number of those that listen for other
 * texts: they are found by what its tag begins with.
 */
export class Subscriptions {
  readonly #all = new Set<Subscription>()
  /** By the length of the text that tags begin with, then by the text. There are few lengths. */
  readonly #byText = new Map<number, Map<string, Set<Subscription>>>()
  /** Those that look at each tag themselves. */
  readonly #picky = new Set<Subscription>()
  readonly #onWanted: (text: string) => void
  #closed = false

  /** `onWanted` is told what tags begin with that somebody listens for: an empty text where that is not known. */
  constructor(onWanted: (text: string) => void = () => {}) {
    this.#onWanted = onWanted
  }

  add(match: Match, signal?: AbortSignal, options: SubscribeOptions = {}): Subscription {
    const subscription = new Subscription(match, options, {
      include: (one, text) => this.#include(one, text),
      exclude: (one, text) => this.#exclude(one, text),
      closed: (one) => {
        this.#all.delete(one)
        this.#picky.delete(one)
        signal?.removeEventListener('abort', close)
      },
    })
    const close = () => subscription.close()
    this.#all.add(subscription)
    if (subscription.picks) {
      this.#picky.add(subscription)
      this.#onWanted('')
    }
    signal?.addEventListener('abort', close)
    if (signal?.aborted || this.#closed) close()
    return subscription
  }

  get size(): number {
    return this.#all.size
  }

  /** An event of `size` bytes. It is decoded once, and only if somebody wants it; one that cannot be reaches nobody. */
  deliver({ tag, event }: ReturnType<typeof readEvent>, size: number): void {
    const wanting = this.#wanting(tag)
    if (wanting.size === 0) return
    const decoded = event()
    for (const subscription of wanting) subscription.deliver(decoded, size)
  }

  /** The connection was lost for a while. */
  interrupted(): void {
    for (const subscription of this.#all) subscription.interrupted()
  }

  close(): void {
    this.#closed = true
    for (const subscription of this.#all) subscription.close()
  }

  #wanting(tag: string): Set<Subscription> {
    const wanting = new Set<Subscription>()
    for (const [length, texts] of this.#byText) {
      if (length > tag.length) continue
      for (const subscription of texts.get(tag.slice(0, length)) ?? []) wanting.add(subscription)
    }
    for (const subscription of this.#picky) if (subscription.picks?.(tag)) wanting.add(subscription)
    return wanting
  }

  #include(subscription: Subscription, text: string): void {
    const texts = this.#byText.get(text.length) ?? new Map<string, Set<Subscription>>()
    this.#byText.set(text.length, texts)
    const listening = texts.get(text) ?? new Set()
    texts.set(text, listening.add(subscription))
    this.#onWanted(text)
  }

  #exclude(subscription: Subscription, text: string): void {
    const texts = this.#byText.get(text.length)
    const listening = texts?.get(text)
    listening?.delete(subscription)
    if (listening?.size === 0) texts?.delete(text)
    if (texts?.size === 0) this.#byText.delete(text.length)
  }
}
