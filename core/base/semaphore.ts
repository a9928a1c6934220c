import { deferred } from './deferred.ts'

/**
 * A semaphore that admits at most `limit` jobs at once (`process_count_max`), first come, first served. -1 and 0 mean
 * no limit.
 */
export class Semaphore {
  readonly #limit: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether the next `take` has to wait. */
  get full(): boolean {
    return this.#limit > 0 && this.#taken >= this.#limit
  }

  /**
   * Wait for a place; resolves with the function that releases it. Rejects with the signal's reason if it aborts first.
   */
  async take(signal?: AbortSignal): Promise<() => void> {
    if (this.full) await this.#wait(signal)
    else this.#taken++
    return () => this.#release()
  }

  /** Pass the place to the longest waiting job, or free it. */
  #release(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken--
  }

  async #wait(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const turn = deferred<void>()
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      turn.reject(signal?.reason)
    }
    const next = () => {
      signal?.removeEventListener('abort', leave)
      turn.resolve()
    }
    this.#waiting.push(next)
    signal?.addEventListener('abort', leave, { once: true })
    return turn.promise
  }
}
