import type { Log } from '../author/context.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import type { ReturnSpool, SpoolEntry, SpooledReturn } from '../jobs/return-spool.ts'
import { withoutValue } from './failed-return.ts'

export interface DelivererSettings {
  readonly spool: Pick<ReturnSpool, 'read' | 'done' | 'replace'>
  /** What is in the spool already for this master. */
  readonly owed: readonly SpoolEntry[]
  /** Send a return to the master, and give its decrypted answer. */
  send(ret: SpooledReturn['ret']): Promise<unknown>
  /** Called when a large return is done with, to give its memory back. */
  collect?(): void
  readonly log: Log
  /** Seconds between tries: a random time between the two (`return_retry_timer`, `return_retry_timer_max`). */
  readonly retry: { readonly min: number; readonly max: number }
}

/** Returns that are sent at once, each waiting for its own answer. At most one of them is large, so that their memory does not add up. */
const CONCURRENCY = 8

/** The wait after an answer that is no acknowledgement doubles so many times: to an hour or so. */
const MAX_DOUBLINGS = 9

/**
 * Brings the returns in the spool to a master, however long that takes: an entry is removed only after the master's
 * verified acknowledgement (wire protocol §10.4). Tries that fail are repeated after a random wait, for ever, and after
 * ever longer ones if the master answers, but cannot take it. Only a refusal for good (`false`) ends that, and one that is
 * too large for any master becomes a failed return.
 */
export class Deliverer {
  readonly #settings: DelivererSettings
  readonly #waiting: SpoolEntry[] = []
  readonly #large: SpoolEntry[] = []
  /** Names of the entries that wait, are under way, or are tried again later. */
  readonly #held = new Set<string>()
  #carriesLarge = false
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #refusals = new WeakMap<SpoolEntry, number>()
  #active = 0
  #closed = false
  #drained: (() => void) | undefined

  constructor(settings: DelivererSettings) {
    this.#settings = settings
    for (const entry of settings.owed) this.deliver(entry)
  }

  /** Number of entries that are not delivered yet. */
  get size(): number {
    return this.#held.size
  }

  holds({ name }: Pick<SpoolEntry, 'name'>): boolean {
    return this.#held.has(name)
  }

  deliver(entry: SpoolEntry): void {
    if (this.holds(entry)) return
    this.#held.add(entry.name)
    this.#enqueue(entry)
  }

  #enqueue(entry: SpoolEntry): void {
    const queue = entry.isLarge ? this.#large : this.#waiting
    queue.push(entry)
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
      const large = this.#carriesLarge ? undefined : this.#large.shift()
      const entry = large ?? this.#waiting.shift()
      if (!entry) return
      this.#active++
      if (large) this.#carriesLarge = true
      void this.#attempt(entry).finally(() => {
        this.#active--
        if (large) this.#endLarge()
        if (this.#active === 0) this.#drained?.()
        this.#pump()
      })
    }
  }

  #endLarge(): void {
    this.#carriesLarge = false
    this.#settings.collect?.()
  }

  async #attempt(entry: SpoolEntry): Promise<void> {
    const { send, spool, log } = this.#settings
    try {
      const ret = spool.read(entry)
      if (!ret) {
        this.#held.delete(entry.name)
        return log.error(`The return of job ${entry.jid} is no longer in the spool.`)
      }
      const answer = await send(ret)
      if (answer !== null && answer !== false) return this.#refused(entry, answer)
      if (answer === false) log.error(`The master refused the return of job ${entry.jid}; it is given up.`)
      await spool.done(entry)
      this.#held.delete(entry.name)
    } catch (error) {
      if (SaltError.is(error) && error.code === 'MESSAGE_TOO_LARGE')
        return this.#replace(entry, error.message)
      log.debug(`The return of job ${entry.jid} was not delivered: ${messageOf(error)}`)
      this.#later(entry, messageOf(error))
    }
  }

  /** No try would ever bring this one to a master: one that says so is sent in its place. */
  async #replace(entry: SpoolEntry, reason: string): Promise<void> {
    const { spool, log } = this.#settings
    log.error(`The return of job ${entry.jid} cannot be sent: ${reason}`)
    try {
      await spool.replace(entry, (ret) => withoutValue(ret, reason))
      this.#enqueue(entry)
    } catch (error) {
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
      this.#enqueue(entry)
    }, seconds * 1000)
    this.#timers.add(timer)
  }
}
