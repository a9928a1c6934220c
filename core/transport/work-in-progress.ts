import { setTimeout } from 'node:timers/promises'
import { type Deferred, deferred } from '../base/deferred.ts'

/** Counts what is under way, so that its number can be bounded and its end awaited. */
export class WorkInProgress {
  readonly #limit: number
  #count = 0
  #finishing = false
  #room: Deferred<void> | undefined
  #idle: Deferred<void> | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  get count(): number {
    return this.#count
  }

  /** Starts a task that never rejects. Resolves when there is room for another one. Nothing is started at the end. */
  async start(task: () => Promise<void>): Promise<void> {
    if (this.#finishing) return
    this.#count++
    void task().finally(() => this.#ended())
    if (this.#count < this.#limit) return
    this.#room ??= deferred()
    await this.#room.promise
  }

  /** Start nothing any more and wait for the tasks, at most so many milliseconds. */
  async finish(timeoutMs: number): Promise<void> {
    this.#finishing = true
    if (this.#count === 0) return
    this.#idle ??= deferred()
    const giveUp = new AbortController()
    await Promise.race([
      this.#idle.promise,
      setTimeout(timeoutMs, undefined, { signal: giveUp.signal }).catch(() => undefined),
    ])
    giveUp.abort()
  }

  #ended(): void {
    this.#count--
    this.#room?.resolve()
    this.#room = undefined
    if (this.#count === 0) this.#idle?.resolve()
  }
}
