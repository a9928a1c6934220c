import type { Event, Subscription } from '../../events/index.ts'
import { tags } from '../../events/index.ts'
import type { MasterEvents } from './master-link.ts'
import { startAndListen } from './start-and-listen.ts'
import { Wakeup } from './wakeup.ts'

/** An event; `missed`: events were lost; `late`: the given time has come; `end`: no more events will come. */
export type NextEvent = Event | 'missed' | 'late' | 'end'

/** The events of the jobs that one wait follows, for one reader. */
export class JobEvents {
  readonly #bus: MasterEvents
  readonly #subscription: Subscription
  readonly #signal: AbortSignal | undefined
  readonly #wakeup = new Wakeup()
  #missed = false
  #interrupted = false

  /** Closed when `signal` is aborted. */
  constructor(bus: MasterEvents, signal?: AbortSignal) {
    this.#bus = bus
    this.#signal = signal
    this.#subscription = bus.subscribe([], signal, {
      onGap: this.#onGap,
      onReadable: this.#wakeup.wake,
    })
  }

  /** Publish a job and receive its events, including those from before its id is known here. */
  publishAndListen<T extends { readonly jid: string }>(publish: () => Promise<T>): Promise<T> {
    const [bus, subscription, onGap] = [this.#bus, this.#subscription, this.#onGap]
    return startAndListen({ bus, family: tags.jobs, subscription, onGap }, publish)
  }

  /** Stop receiving the events of a job. */
  forget(jid: string): void {
    this.#subscription.exclude(tags.job(jid))
  }

  /**
   * Return the next event; wait until `moment` (milliseconds since 1970). `missed` comes once, before later events. Rejects
   * with the reason of the signal once that is aborted.
   */
  async next(moment: number): Promise<NextEvent> {
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
      await this.#wakeup.until(moment)
    }
  }

  /** Make a pending {@link next} return `late`. */
  interrupt(): void {
    this.#interrupted = true
    this.#wakeup.wake()
  }

  close(): void {
    this.#subscription.close()
  }

  readonly #onGap = (): void => {
    this.#missed = true
    this.#wakeup.wake()
  }
}
