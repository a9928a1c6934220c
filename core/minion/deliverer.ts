import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import type { ReturnSpool, SpoolEntry } from '../jobs/return-spool.ts'

export interface DelivererSettings {
  readonly spool: Pick<ReturnSpool, 'done'>
  /** What is in the spool already for this master. */
  readonly owed: readonly SpoolEntry[]
  /** Send a return to the master, and give its decrypted answer. */
  send(entry: SpoolEntry): Promise<unknown>
  readonly log: Log
  /** Seconds between tries: a random time between the two (`return_retry_timer`, `return_retry_timer_max`). */
  readonly retry: { readonly min: number; readonly max: number }
}

/** Returns sent at once; each waits for its own answer. */
const CONCURRENCY = 8

/** The wait after an answer that is no acknowledgement doubles so many times: to an hour or so. */
const MAX_DOUBLINGS = 9

/**
 * Brings the returns in the spool to a master, however long that takes: an entry is removed only after the master's
 * verified acknowledgement (wire protocol §10.4). Tries that fail are repeated after a random wait, for ever, and after
 * ever longer ones if the master answers, but cannot take it. Only a refusal for good (`false`) ends that.
 */
export class Deliverer {
  readonly #settings: DelivererSettings
  readonly #waiting: SpoolEntry[] = []
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #refusals = new WeakMap<SpoolEntry, number>()
  #active = 0
  #closed = false
  #drained: (() => void) | undefined

  constructor(settings: DelivererSettings) {
    this.#settings = settings
    for (const entry of settings.owed) this.deliver(entry)
  }

  deliver(entry: SpoolEntry): void {
    this.#waiting.push(entry)
    this.#pump()
  }

  /** Waits up to `ms` for what is under way, then stops; what is left stays in the spool. */
  async close(ms: number): Promise<void> {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
    if (this.#active === 0) return
    await new Promise<void>((resolve) => {
      this.#drained = resolve
      setTimeout(resolve, ms).unref()
    })
  }

  #pump(): void {
    while (!this.#closed && this.#active < CONCURRENCY) {
      const entry = this.#waiting.shift()
      if (!entry) return
      this.#active++
      void this.#attempt(entry).finally(() => {
        this.#active--
        if (this.#active === 0) this.#drained?.()
        this.#pump()
      })
    }
  }

  async #attempt(entry: SpoolEntry): Promise<void> {
    const { send, spool, log } = this.#settings
    try {
      if (!('return' in entry.ret))
        return log.error(`The return of job ${entry.jid} is no longer in the spool.`)
      const answer = await send(entry)
      if (answer !== null && answer !== false) return this.#refused(entry, answer)
      if (answer === false) log.error(`The master refused the return of job ${entry.jid}; it is given up.`)
      await spool.done(entry)
    } catch (error) {
      log.debug(`The return of job ${entry.jid} was not delivered: ${messageOf(error)}`)
      this.#later(entry, messageOf(error))
    }
  }

  /** Something is wrong at the master that may take time to be mended. */
  #refused(entry: SpoolEntry, answer: unknown): void {
    const count = this.#refusals.get(entry) ?? 0
    this.#refusals.set(entry, count + 1)
    this.#later(entry, `the master answered ${JSON.stringify(answer)}`, 2 ** Math.min(count, MAX_DOUBLINGS))
  }

  #later(entry: SpoolEntry, reason: string, factor = 1): void {
    if (this.#closed) return
    const { min, max } = this.#settings.retry
    const seconds = factor * (min + Math.random() * Math.max(0, max - min))
    this.#settings.log.info(
      `Minion return retry timer set to ${seconds.toFixed(1)} seconds (randomized) for job ${entry.jid}: ${reason}`,
    )
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.deliver(entry)
    }, seconds * 1000)
    this.#timers.add(timer)
  }
}
