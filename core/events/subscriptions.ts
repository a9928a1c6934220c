import type { readEvent } from './event.ts'
import { type Match, type SubscribeOptions, Subscription } from './subscription.ts'

/**
 * The subscriptions of one connection, indexed by prefix. The cost of an event does not depend on the number of subscriptions
 * to other prefixes.
 */
export class Subscriptions {
  readonly #all = new Set<Subscription>()
  /** Subscriptions by the length of their prefix, then by the prefix. There are few lengths. */
  readonly #byText = new Map<number, Map<string, Set<Subscription>>>()
  /** Subscriptions with a function, which is called for each tag. */
  readonly #byFunction = new Set<Subscription>()
  readonly #onWanted: (text: string) => void
  #closed = false

  /** `onWanted` is called with each prefix that is subscribed to, with an empty text for a function. */
  constructor(onWanted: (text: string) => void = () => {}) {
    this.#onWanted = onWanted
  }

  add(match: Match, signal?: AbortSignal, options: SubscribeOptions = {}): Subscription {
    const subscription = new Subscription(match, options, {
      include: (one, text) => this.#include(one, text),
      exclude: (one, text) => this.#exclude(one, text),
      closed: (one) => {
        this.#all.delete(one)
        this.#byFunction.delete(one)
        signal?.removeEventListener('abort', close)
      },
    })
    const close = () => subscription.close()
    this.#all.add(subscription)
    if (subscription.picks) {
      this.#byFunction.add(subscription)
      this.#onWanted('')
    }
    signal?.addEventListener('abort', close)
    if (signal?.aborted || this.#closed) close()
    return subscription
  }

  get size(): number {
    return this.#all.size
  }

  /** Deliver an event of `size` bytes. It is decoded once, and only if a subscription matches. Throws if decoding fails. */
  deliver({ tag, event }: ReturnType<typeof readEvent>, size: number): void {
    const matching = this.#matching(tag)
    if (matching.size === 0) return
    const decoded = event()
    for (const subscription of matching) subscription.deliver(decoded, size)
  }

  /** Report to all subscriptions that the connection was lost for a while. */
  interrupted(): void {
    for (const subscription of this.#all) subscription.interrupted()
  }

  close(): void {
    this.#closed = true
    for (const subscription of this.#all) subscription.close()
  }

  #matching(tag: string): Set<Subscription> {
    const matching = new Set<Subscription>()
    for (const [length, texts] of this.#byText) {
      if (length > tag.length) continue
      for (const subscription of texts.get(tag.slice(0, length)) ?? []) matching.add(subscription)
    }
    for (const subscription of this.#byFunction) if (subscription.picks?.(tag)) matching.add(subscription)
    return matching
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
