import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { endsWithin } from '../base/with-timeout.ts'

/** Work that nobody awaits until the minion closes. */
export class BackgroundWork {
  readonly #log: Log
  readonly #running = new Set<Promise<unknown>>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Log an error if the work fails. `what` is the subject of that sentence. */
  add(what: string, work: Promise<unknown>): void {
    const guarded = work.catch((error: unknown) => this.#log.error(`${what} failed: ${messageOf(error)}`))
    this.#running.add(guarded)
    void guarded.finally(() => this.#running.delete(guarded))
  }

  /** Wait until all work is done, for at most `ms` milliseconds. */
  async settle(ms: number): Promise<void> {
    await endsWithin(Promise.allSettled(this.#running), ms)
  }
}
