import { deferred } from './deferred.ts'

/** Lets at most `limit` jobs run at once, in the order they came (`process_count_max`); -1 or 0: any number. */
export class Turns {
  readonly #limit: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whoever comes now has to wait. */
  get full(): boolean {
    return this.#limit > 0 && this.#taken >= this.#limit
  }

  /** Resolves when it is one's turn, with what ends it. Rejects with the signal's reason if that comes first. */
  async take(signal?: AbortSignal): Promise<() => void> {
    if (this.full) await this.#wait(signal)
    else this.#taken++
    return () => this.#passOn()
  }

  /** The turn goes to who waits longest; it stays taken then. */
  #passOn(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken--
  }

  #wait(signal?: AbortSignal): Promise<void> {
    const turn = deferred<void>()
    const next = () => turn.resolve()
    this.#waiting.push(next)
    signal?.addEventListener('abort', () => {
      const place = this.#waiting.indexOf(next)
      if (place < 0) return
      this.#waiting.splice(place, 1)
      turn.reject(signal.reason)
    })
    return turn.promise
  }
}
