import type { Event, EventBus, Subscription } from '../events/index.ts'
import { tags } from '../events/index.ts'

/** What comes next: an event; or some before it were missed; or the moment has come; or nothing will come any more. */
export type News = Event | 'missed' | 'late' | 'end'

const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Events of all jobs from the moment this is made. For one reader. */
export class JobEvents {
  readonly #subscription: Subscription
  readonly #stream: AsyncIterator<Event, void>
  #next: Promise<Event | 'end'> | undefined
  #missed = false
  #wake: (() => void) | undefined

  constructor(bus: EventBus) {
    const onGap = () => {
      this.#missed = true
      this.#wake?.()
    }
    this.#subscription = bus.subscribe(tags.jobs, undefined, { onGap })
    this.#stream = this.#subscription[Symbol.asyncIterator]()
  }

  /** Waits up to a moment (milliseconds since 1970). That events were missed is told once, and before later ones. */
  async next(moment: number): Promise<News> {
    if (this.#missed) return this.#tellMissed()
    this.#next ??= this.#stream.next().then(({ done, value }) => (done || !value ? 'end' : value))
    const found = await Promise.race([this.#next, this.#interruption(moment)])
    this.#wake?.() // ends the timer
    if (found) this.#next = undefined
    return found ?? (this.#missed ? this.#tellMissed() : 'late')
  }

  close(): void {
    this.#subscription.close()
  }

  #tellMissed(): 'missed' {
    this.#missed = false
    return 'missed'
  }

  /** Resolves when events were missed, or at the moment. */
  #interruption(moment: number): Promise<undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(wake, Math.min(Math.max(0, moment - Date.now()), LONGEST_TIMER_MS))
      function wake() {
        clearTimeout(timer)
        resolve(undefined)
      }
      this.#wake = wake
    })
  }
}
