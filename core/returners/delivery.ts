import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import type { Returner } from '../author/returner.ts'
import { backoff } from '../base/backoff.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import {
  type Batch,
  type BatchShape,
  type Gather,
  MANY,
  type Outbox,
  type QueuedParcel,
  type TargetState,
} from '../jobs/outbox.ts'
import { Suspects } from './suspects.ts'
import { failedState, freshState, writtenState } from './target-state.ts'
import { withDeadline, write } from './write.ts'

export interface DeliverySettings {
  readonly target: string
  /** Of the returner, for people. */
  readonly name: string
  readonly outbox: Outbox
  open(): Promise<Returner>
  readonly log: Log
  /** Of tries: milliseconds. Between them is half of it up to it, doubling from `min` to `max`. */
  readonly retry: { readonly minMs: number; readonly maxMs: number }
  /** What has waited longer is put aside. Milliseconds; 0: nothing is. */
  readonly keepMs: number
  /** A call of the returner that lasts longer counts as failed. Milliseconds. */
  readonly timeoutMs: number
  /** Nothing is written before there are so many parcels, or the oldest is so old. */
  readonly gather?: Gather | undefined
  /** Told when a store goes away and when it is back. */
  onState?(state: TargetState): void
  /** Told when parcels were written, and once, with the reason, when they have to wait. */
  onTried?(parcels: readonly QueuedParcel[], error?: string): void
  readonly clock?: Clock
}

/** A batch that failed so often is tried one by one: perhaps one parcel of it is what the store does not take. */
const SUSPICIOUS = 8
/** So many of them that fail one after the other blame the store. */
const ALL_FAIL = 3
/** Batches get larger as long as full ones are written within so many milliseconds, up to so many parcels. */
const QUICK_MS = 1000
const MOST = 8 * MANY
/** How often the number of what was written is noted. Milliseconds. */
const NOTE_MS = 1000

/**
 * Writes what is in the outbox for one target to its store, oldest first, and the same again until the store has taken
 * it. Only what the store refuses for its own sake, or what waited longer than is configured, is put aside.
 */
export class Delivery {
  readonly #settings: DeliverySettings
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  #returner: Returner | undefined
  #wake = deferred<void>()
  #state: TargetState
  #noted = 0
  /** The number of what was written has changed since it was noted. */
  #unnoted = false
  /** Parcels of the next batch, at most. */
  #most = MANY
  /** Number of the last parcel of which was told that it waits. */
  #toldUpTo = -1
  /** A return the store has, and can be given again without harm. */
  #witness: QueuedParcel | undefined
  readonly #suspects = new Suspects()

  constructor(settings: DeliverySettings) {
    this.#settings = settings
    const { outbox, target } = settings
    this.#state = outbox.state(target) ?? freshState(this.#now())
    this.#ended = this.#run()
  }

  /** There may be something new, or it may be worth to try again. */
  wake(): void {
    if (this.#state.state === 'down') this.#tellWaiting()
    this.#wake.resolve()
  }

  /** Resolves when nothing is being written any more. What is left stays in the outbox. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.wake()
    await this.#ended
    await this.#closeReturner()
    await this.#note()
  }

  async #run(): Promise<void> {
    const { outbox, target, retry, log } = this.#settings
    const delays = backoff(retry)
    let batch: Batch | undefined
    while (!this.#closing.signal.aborted) {
      try {
        batch ??= await outbox.next(target, this.#shape)
        if (!batch) await this.#idle()
        else if (await this.#outdated(batch)) batch = undefined
        else {
          batch = await this.#attempt(batch)
          delays.reset()
        }
      } catch (error) {
        // The same ones again; but others between those of which one may be to blame.
        this.#most = this.#suspects.isEmpty ? Math.min(batch?.parcels.length ?? MANY, MANY) : MANY
        batch = undefined
        await this.#failed(error)
        log.debug(`Returner ${this.#name}: try ${this.#state.failures} failed: ${messageOf(error)}`)
        await delay(delays.next(), undefined, { signal: this.#closing.signal }).catch(() => undefined)
      }
    }
  }

  /** Gives the next batch if that is known. Rejects if this one, or what is left of it, has to be tried again. */
  async #attempt(batch: Batch): Promise<Batch | undefined> {
    const returner = await this.#opened()
    const { parcels, id } = batch
    if (this.#state.failures >= SUSPICIOUS || !this.#suspects.isEmpty)
      return this.#oneByOne(returner, parcels)
    const began = performance.now()
    const taken: QueuedParcel[] = []
    try {
      await write(returner, parcels, { batch: id, timeoutMs: this.#settings.timeoutMs, taken })
    } catch (error) {
      const rest = await this.#withoutTaken(returner, parcels, taken)
      if (!isUnsavable(error)) throw error
      if (rest.length > 1) return this.#oneByOne(returner, rest)
      await this.#bury(rest, messageOf(error))
      return undefined
    }
    this.#remember(parcels.at(-1))
    const wasQuick = performance.now() - began < QUICK_MS
    const more = wasQuick && parcels.length >= this.#most ? 2 * this.#most : this.#most
    this.#most = Math.min(Math.max(more, MANY), MOST)
    const following = await this.#settings.outbox.finish(batch, this.#shape)
    await this.#written(parcels)
    return following
  }

  get #shape(): BatchShape {
    return { gather: this.#settings.gather, most: this.#most }
  }

  /** A store that would have them twice is not given again what it took. */
  async #withoutTaken(
    returner: Returner,
    parcels: readonly QueuedParcel[],
    taken: readonly QueuedParcel[],
  ): Promise<readonly QueuedParcel[]> {
    if (returner.idempotent !== false || taken.length === 0) return parcels
    await this.#settings.outbox.done(this.#settings.target, taken)
    await this.#written(taken)
    return parcels.slice(taken.length)
  }

  /**
   * What fails again and again, each time between others that the store takes, is what is wrong. The others are those
   * that are queued and, where writing again is without harm, the last one that was taken.
   */
  async #oneByOne(returner: Returner, parcels: readonly QueuedParcel[]): Promise<undefined> {
    const { outbox, target } = this.#settings
    await outbox.done(target, []) // no batch any more: others may come between
    const suspects = this.#suspects
    suspects.begin()
    let inARow = 0
    for (const parcel of parcels.filter((one) => !suspects.has(one))) {
      const error = await this.#settle(returner, parcel)
      inARow = error === undefined ? 0 : inARow + 1
      if (inARow === ALL_FAIL) throw error
      if (this.#closing.signal.aborted) return
    }
    for (let next = suspects.next(); next && !this.#closing.signal.aborted; next = suspects.next()) {
      const isSafe = this.#witness && returner.idempotent !== false
      const error = await (isSafe ? this.#askAgain(returner) : this.#settle(returner, next))
      if (error !== undefined) throw error
    }
  }

  /** Write one. Gives why the store does not take it; undefined if it did, or if it never will and was put aside. */
  async #settle(returner: Returner, parcel: QueuedParcel): Promise<unknown> {
    const error = await this.#failureOf(returner, parcel)
    if (error === undefined) {
      this.#suspects.delete(parcel)
      this.#remember(parcel)
      await this.#settings.outbox.done(this.#settings.target, [parcel])
      await this.#written([parcel])
      await this.#judge(returner)
    } else if (isUnsavable(error)) await this.#bury([parcel], messageOf(error))
    else {
      this.#suspects.failed(parcel, messageOf(error))
      return error
    }
    return undefined
  }

  /** See whether the store takes again what it has. */
  async #askAgain(returner: Returner): Promise<unknown> {
    const error = this.#witness && (await this.#failureOf(returner, this.#witness))
    if (error === undefined) await this.#judge(returner)
    return error
  }

  /** The store has just taken something. */
  async #judge(returner: Returner): Promise<void> {
    for (const { parcel, reason } of this.#suspects.otherTaken()) await this.#bury([parcel], reason)
    const next = this.#suspects.next()
    if (next) await this.#settle(returner, next)
  }

  async #failureOf(returner: Returner, parcel: QueuedParcel): Promise<unknown> {
    const { target, timeoutMs } = this.#settings
    const batch = `${target}/${parcel.number}:${parcel.since}`
    try {
      await write(returner, [parcel], { batch, timeoutMs, taken: [] })
      return undefined
    } catch (error) {
      return error ?? new Error('It failed without a reason.')
    }
  }

  #remember(parcel: QueuedParcel | undefined): void {
    if (parcel?.parcel.kind === 'return') this.#witness = parcel
  }

  async #outdated({ parcels }: Batch): Promise<boolean> {
    const { keepMs } = this.#settings
    const old = keepMs > 0 ? parcels.filter(({ since }) => since < this.#now() - keepMs) : []
    if (old.length > 0)
      await this.#bury(
        old,
        `it could not be written for too long: ${this.#state.error ?? 'the store was not there'}`,
      )
    return old.length > 0
  }

  async #bury(parcels: readonly QueuedParcel[], reason: string): Promise<void> {
    const { outbox, target, log } = this.#settings
    await outbox.bury(target, parcels, reason)
    for (const parcel of parcels) this.#suspects.delete(parcel)
    log.error(
      `Returner ${this.#name}: ${parcels.length} records were put aside, which it does not take: ${reason} See salt-run returner.status, retry and purge.`,
    )
  }

  async #written(parcels: readonly QueuedParcel[]): Promise<void> {
    const { log } = this.#settings
    this.#settings.onTried?.(parcels)
    const wasDown = this.#state.state === 'down'
    this.#state = writtenState(this.#state, parcels.length, this.#now())
    this.#unnoted = true
    if (wasDown) {
      log.info(`Returner ${this.#name}: its store takes records again.`)
      this.#settings.onState?.(this.#state)
    }
    if (wasDown || this.#now() - this.#noted > NOTE_MS) await this.#note()
  }

  async #failed(error: unknown): Promise<void> {
    const reason = messageOf(error)
    const wasUp = this.#state.state === 'up'
    this.#state = failedState(this.#state, reason, this.#now())
    if (wasUp) {
      this.#settings.log.warn(
        `Returner ${this.#name}: its store takes nothing; records wait in the outbox. ${reason}`,
      )
      this.#settings.onState?.(this.#state)
    }
    this.#tellWaiting()
    await this.#note()
    await this.#closeReturner()
  }

  async #closeReturner(): Promise<void> {
    const returner = this.#returner
    this.#returner = undefined
    await withDeadline('close', this.#settings.timeoutMs, () => returner?.close?.()).catch(() => undefined)
  }

  /** Once for each parcel, however often it is tried. */
  #tellWaiting(): void {
    const { outbox, target, onTried } = this.#settings
    if (!onTried) return
    const fresh = outbox.after(target, this.#toldUpTo)
    this.#toldUpTo = fresh.at(-1)?.number ?? this.#toldUpTo
    if (fresh.length > 0) onTried(fresh, this.#state.error)
  }

  /** Until something is added, or time has come for what is there. */
  async #idle(): Promise<void> {
    const { outbox, target, gather } = this.#settings
    const first = gather && Number.isFinite(gather.ms) ? outbox.after(target, -1)[0] : undefined
    const due = [
      ...(first && gather ? [first.since + gather.ms] : []),
      ...(this.#unnoted ? [this.#noted + NOTE_MS] : []),
    ]
    const ms = Math.max(0, Math.min(...due) - this.#now())
    const timer = due.length > 0 ? setTimeout(() => this.#wake.resolve(), ms) : undefined
    await this.#wake.promise
    clearTimeout(timer)
    this.#wake = deferred()
    if (this.#unnoted && this.#noted < this.#now() - NOTE_MS) await this.#note()
  }

  /** For those who ask from other processes. A disk that is full is no reason to stop. */
  async #note(): Promise<void> {
    this.#noted = this.#now()
    this.#unnoted = false
    await this.#settings.outbox.setState(this.#settings.target, this.#state).catch(() => undefined)
  }

  async #opened(): Promise<Returner> {
    if (this.#returner) return this.#returner
    const { open, timeoutMs } = this.#settings
    const opening = open()
    try {
      this.#returner = await withDeadline('opening', timeoutMs, () => opening)
    } catch (error) {
      opening.then((late) => late.close?.()).catch(() => undefined)
      throw error
    }
    return this.#returner
  }

  #now(): number {
    return (this.#settings.clock ?? systemClock).now()
  }

  get #name(): string {
    return this.#settings.name
  }
}

const isUnsavable = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'UNSAVABLE'
