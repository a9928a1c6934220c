import type { Event, Subscription } from '../events/index.ts'
import { tags } from '../events/index.ts'
import { startAndHear } from './early-events.ts'
import type { MasterEvents } from './master-link.ts'

/** What comes next: an event; or some before it were missed; or the moment has come; or nothing will come any more. */
export type News = Event | 'missed' | 'late' | 'end'

const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Events of the jobs that one wait is about. For one reader. */
export class JobEvents {
  readonly #bus: MasterEvents
  readonly #subscription: Subscription
  readonly #signal: AbortSignal | undefined
  #missed = false
  #interrupted = false
  #wake: (() => void) | undefined

  /** Closed when `signal` is aborted. */
  constructor(bus: MasterEvents, signal?: AbortSignal) {
    this.#bus = bus
    this.#signal = signal
    this.#subscription = bus.subscribe([], signal, {
      onGap: this.#onGap,
      onNews: () => this.#wake?.(),
    })
  }

  /** Publish a job and hear of it, also of what happens before its id is known here. */
  hearOf<T extends { readonly jid: string }>(publish: () => Promise<T>): Promise<T> {
    const [bus, subscription, onGap] = [this.#bus, this.#subscription, this.#onGap]
    return startAndHear({ bus, family: tags.jobs, subscription, onGap }, publish)
  }

  /** Hear of a job no longer. */
  forget(jid: string): void {
    this.#subscription.exclude(tags.job(jid))
  }

  /**
   * Waits up to a moment (milliseconds since 1970). That events were missed is told once, and before later ones.
   * Rejects with the reason of the signal once that is aborted.
   */
  async next(moment: number): Promise<News> {
    for (let isLate = this.#interrupted; ; isLate = this.#interrupted || Date.now() >= moment) {
      this.#signal?.throwIfAborted()
      if (this.#missed) {
        this.#missed = false
        return 'missed'
      }
      const waiting = this.#subscription.shift()
      if (waiting) return waiting.event
      if (this.#subscription.closed) return 'end'
      if (isLate) {
        this.#interrupted = false
        return 'late'
      }
      await this.#news(moment)
    }
  }

  /** Have who waits for what is next look up: it is told that the moment has come. */
  interrupt(): void {
    this.#interrupted = true
    this.#wake?.()
  }

  close(): void {
    this.#subscription.close()
  }

  readonly #onGap = (): void => {
    this.#missed = true
    this.#wake?.()
  }

  /** Resolves when there is something to look at, or at the moment. */
  #news(moment: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
      const timer = setTimeout(wake, Math.min(Math.max(0, moment - Date.now()), LONGEST_TIMER_MS))
      this.#wake = wake
    })
  }
}
