import type { Log } from '../../author/context.ts'
import { deferred } from '../../base/deferred.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import { jsonText } from '../../dialect/json.ts'
import type { ReturnSpool, SpoolEntry, SpooledReturn } from '../../jobs/return-spool.ts'
import { withoutValue } from './failed-return.ts'

export interface DelivererSettings {
  readonly spool: Pick<ReturnSpool, 'read' | 'done' | 'replace'>
  /** Returns that are in the spool for this master at the start. */
  readonly spooled: readonly SpoolEntry[]
  /** Send a return to the master. Resolves with its decrypted answer. */
  send(ret: SpooledReturn['ret']): Promise<unknown>
  /** Called after a large return was processed, to release its memory. */
  collect?(): void
  readonly log: Log
  /** Seconds between attempts: a random time in this range (`return_retry_timer`, `return_retry_timer_max`). */
  readonly retry: { readonly min: number; readonly max: number }
}

/** Returns that are sent concurrently. At most one of them is large, to limit the memory in use. */
const CONCURRENCY = 8

/** Number of times that the wait doubles after an answer that is not an acknowledgement: up to about an hour. */
const MAX_DOUBLINGS = 9

/**
 * Delivers the returns in the spool to a master. An entry is removed only after the master's verified acknowledgement (wire
 * protocol §10.4). Failed attempts are repeated without limit after a random wait, which grows while the master answers but
 * does not acknowledge. A final refusal (`false`) drops the return. A return that is too large for any master is replaced by
 * a failed return.
 */
export class Deliverer {
  readonly #settings: DelivererSettings
  readonly #waiting: SpoolEntry[] = []
  readonly #large: SpoolEntry[] = []
  /** Names of the entries that are queued, being sent, or waiting for a retry. */
  readonly #held = new Set<string>()
  #isSendingLarge = false
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #refusals = new WeakMap<SpoolEntry, number>()
  #active = 0
  #closed = false
  readonly #drained = deferred()

  constructor(settings: DelivererSettings) {
    this.#settings = settings
    for (const entry of settings.spooled) this.deliver(entry)
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

  /** Wait up to `ms` milliseconds for returns that are being sent, then stop. The others stay in the spool. */
  async close(ms: number): Promise<void> {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
    if (this.#active === 0) return
    await endsWithin(this.#drained.promise, ms)
  }

  #pump(): void {
    while (!this.#closed && this.#active < CONCURRENCY) {
      const large = this.#isSendingLarge ? undefined : this.#large.shift()
      const entry = large ?? this.#waiting.shift()
      if (!entry) return
      this.#active++
      if (large) this.#isSendingLarge = true
      void this.#attempt(entry).finally(() => {
        this.#active--
        if (large) this.#endLarge()
        if (this.#closed && this.#active === 0) this.#drained.resolve()
        this.#pump()
      })
    }
  }

  #endLarge(): void {
    this.#isSendingLarge = false
    this.#settings.collect?.()
  }

  async #attempt(entry: SpoolEntry): Promise<void> {
    const { send, spool, log } = this.#settings
    try {
      const ret = spool.read(entry)
      if (!ret) {
        this.#held.delete(entry.name)
        return log.error(
          `The return of job ${entry.jid} is no longer in the spool and is not delivered. Was the spool replaced?`,
        )
      }
      const answer = await send(ret)
      if (answer !== null && answer !== false) return this.#refused(entry, answer)
      if (answer === false) log.error(`The master refused the return of job ${entry.jid}; it is dropped.`)
      await spool.done(entry)
      this.#held.delete(entry.name)
    } catch (error) {
      if (SaltError.is(error) && error.code === 'MESSAGE_TOO_LARGE')
        return this.#replace(entry, error.message)
      log.debug(`The return of job ${entry.jid} was not delivered: ${messageOf(error)}`)
      this.#retryLater(entry, messageOf(error))
    }
  }

  /** Replace a return that no attempt could deliver by a failed return with the reason. */
  async #replace(entry: SpoolEntry, reason: string): Promise<void> {
    const { spool, log } = this.#settings
    log.error(`The return of job ${entry.jid} cannot be sent: ${reason}`)
    try {
      await spool.replace(entry, (ret) => withoutValue(ret, reason))
      this.#enqueue(entry)
    } catch (error) {
      this.#retryLater(entry, messageOf(error))
    }
  }

  /** Retry later with a growing wait, since the fault of the master may take time to be fixed. */
  #refused(entry: SpoolEntry, answer: unknown): void {
    const count = this.#refusals.get(entry) ?? 0
    this.#refusals.set(entry, count + 1)
    this.#retryLater(entry, `the master answered ${jsonText(answer)}`, 2 ** Math.min(count, MAX_DOUBLINGS))
  }

  #retryLater(entry: SpoolEntry, reason: string, factor = 1): void {
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
