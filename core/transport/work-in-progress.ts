import { type Deferred, deferred } from '../base/deferred.ts'
import { endsWithin } from '../base/with-timeout.ts'

/** Counts running tasks, to limit their number and to wait for their end. */
export class WorkInProgress {
  readonly #limit: number
  #count = 0
  #finishing = false
  #belowLimit: Deferred<void> | undefined
  #idle: Deferred<void> | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  get count(): number {
    return this.#count
  }

  /** Start a task that never rejects. Resolves when another one may be started. After `finish` tasks are ignored. */
  async start(task: () => Promise<void>): Promise<void> {
    if (this.#finishing) return
    this.#count++
    void task().finally(() => this.#ended())
    if (this.#count < this.#limit) return
    this.#belowLimit ??= deferred()
    await this.#belowLimit.promise
  }

  /** Stop starting tasks, and wait for the running ones, at most `timeoutMs` milliseconds. */
  async finish(timeoutMs: number): Promise<void> {
    this.#finishing = true
    if (this.#count === 0) return
    this.#idle ??= deferred()
    await endsWithin(this.#idle.promise, timeoutMs)
  }

  #ended(): void {
    this.#count--
    this.#belowLimit?.resolve()
    this.#belowLimit = undefined
    if (this.#count === 0) this.#idle?.resolve()
  }
}
