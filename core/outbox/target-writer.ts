import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import type { Returner } from '../author/returner.ts'
import { backoff } from '../base/backoff.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import { withoutSecrets } from '../loader/index.ts'
import {
  BATCH_ITEMS,
  type BatchLimits,
  type BatchShape,
  type Outbox,
  type OutboxBatch,
  type QueueEntry,
  type TargetState,
} from './outbox.ts'
import { Suspects } from './suspects.ts'
import { failedState, freshState, writtenState } from './target-state.ts'
import { withDeadline, writeItems } from './write.ts'

export interface TargetWriterSettings {
  readonly target: string
  /** Name of the returner, for messages. */
  readonly name: string
  readonly outbox: Outbox
  open(): Promise<Returner>
  readonly log: Log
  /** Milliseconds between attempts: doubling from `minMs` to `maxMs`, each randomized between half of it and all of it. */
  readonly retry: { readonly minMs: number; readonly maxMs: number }
  /** Milliseconds after which an item is put aside; 0 for never. */
  readonly keepMs: number
  /** Milliseconds after which a call of the returner counts as failed. */
  readonly timeoutMs: number
  /** Number of items, or age of the oldest, from which items are written; if undefined they are written at once. */
  readonly gather?: BatchLimits | undefined
  /** Called when the store becomes unavailable and when it is available again. */
  onState?(state: TargetState): void
  /** Called when items were written; also once with the error if they have to wait. */
  onTried?(entries: readonly QueueEntry[], error?: string): void
  readonly clock?: Clock
}

/** Number of failed attempts after which items are tried one by one, since a single one may be the cause. */
const FAILURES_BEFORE_SINGLE = 8
/** Number of single items in a row that must fail to blame the store. */
const FAILURES_IN_A_ROW = 3
/** Batches grow, up to `MAX_BATCH_ITEMS` items, while full ones are written within this time. */
const GROW_WITHIN_MS = 1000
const MAX_BATCH_ITEMS = 8 * BATCH_ITEMS
/** Minimum time between two updates of the stored state. */
const STATE_INTERVAL_MS = 1000

/**
 * Writes the items in the outbox for one target to its store, oldest first, and repeats each until the store has accepted it.
 * Items are put aside only if they themselves are the cause of the failure, or have waited longer than `keepMs`.
 */
export class TargetWriter {
  readonly #settings: TargetWriterSettings
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  #returner: Returner | undefined
  #wake = deferred<void>()
  #state: TargetState
  #stateStoredAt = 0
  /** Whether the number of written items has changed since the state was stored. */
  #isStateStale = false
  /** Maximum number of items in the next batch. */
  #maxItems = BATCH_ITEMS
  /** Number of the last item that was reported as waiting. */
  #reportedUpTo = -1
  /** The last return that the store has accepted. Writing it again tests the store. */
  #lastAccepted: QueueEntry | undefined
  readonly #suspects = new Suspects()

  constructor(settings: TargetWriterSettings) {
    this.#settings = settings
    const { outbox, target } = settings
    this.#state = outbox.state(target) ?? freshState(this.#now())
    this.#ended = this.#run()
  }

  /** Look for new items. */
  wake(): void {
    if (this.#state.state === 'down') this.#reportWaiting()
    this.#wake.resolve()
  }

  /** Stop. Resolves when the current write has ended. Other items stay in the outbox. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.wake()
    await this.#ended
    await this.#closeReturner()
    await this.#storeState()
  }

  async #run(): Promise<void> {
    const { outbox, target, retry, log } = this.#settings
    const delays = backoff(retry)
    let batch: OutboxBatch | undefined
    while (!this.#closing.signal.aborted) {
      try {
        batch ??= await outbox.next(target, this.#shape)
        if (!batch) await this.#idle()
        else if (await this.#putAsideOutdated(batch)) batch = undefined
        else {
          batch = await this.#attempt(batch)
          delays.reset()
        }
      } catch (error) {
        // Try the same items again. While single items are suspected, take others as well, which must come between them.
        this.#maxItems = this.#suspects.isEmpty
          ? Math.min(batch?.entries.length ?? BATCH_ITEMS, BATCH_ITEMS)
          : BATCH_ITEMS
        batch = undefined
        await this.#failed(error)
        log.debug(`Returner ${this.#name}: try ${this.#state.failures} failed: ${this.#reasonOf(error)}`)
        await delay(delays.next(), undefined, { signal: this.#closing.signal }).catch(() => undefined)
      }
    }
  }

  /** Write a batch. Resolves with the next one if it is known. Rejects if this one, or the rest of it, must be tried again. */
  async #attempt(batch: OutboxBatch): Promise<OutboxBatch | undefined> {
    const returner = await this.#opened()
    const { entries, id } = batch
    if (this.#state.failures >= FAILURES_BEFORE_SINGLE || !this.#suspects.isEmpty)
      return this.#oneByOne(returner, entries)
    const began = performance.now()
    const taken: QueueEntry[] = []
    try {
      await writeItems(returner, entries, { batch: id, timeoutMs: this.#settings.timeoutMs, taken })
    } catch (error) {
      const rest = await this.#withoutTaken(returner, entries, taken)
      if (!isUnsavable(error)) throw error
      if (rest.length > 1) return this.#oneByOne(returner, rest)
      await this.#putAside(rest, this.#reasonOf(error))
      return undefined
    }
    this.#rememberAccepted(entries.at(-1))
    const wasQuick = performance.now() - began < GROW_WITHIN_MS
    const more = wasQuick && entries.length >= this.#maxItems ? 2 * this.#maxItems : this.#maxItems
    this.#maxItems = Math.min(Math.max(more, BATCH_ITEMS), MAX_BATCH_ITEMS)
    const following = await this.#settings.outbox.finish(batch, this.#shape)
    await this.#written(entries)
    return following
  }

  get #shape(): BatchShape {
    return { gather: this.#settings.gather, maxItems: this.#maxItems }
  }

  /** Return the items to try again. A store that is not idempotent does not get the ones that it has accepted. */
  async #withoutTaken(
    returner: Returner,
    entries: readonly QueueEntry[],
    taken: readonly QueueEntry[],
  ): Promise<readonly QueueEntry[]> {
    if (returner.idempotent !== false || taken.length === 0) return entries
    await this.#settings.outbox.done(this.#settings.target, taken)
    await this.#written(taken)
    return entries.slice(taken.length)
  }

  /**
   * Write items one by one to find those that the store does not accept: an item that fails repeatedly while others before and
   * after it are accepted. The others are queued items and, if the store is idempotent, the last accepted return.
   */
  async #oneByOne(returner: Returner, entries: readonly QueueEntry[]): Promise<undefined> {
    const { outbox, target } = this.#settings
    await outbox.done(target, []) // removes the mark of the batch, so that its items can be written separately
    const suspects = this.#suspects
    suspects.begin()
    let inARow = 0
    for (const entry of entries.filter((one) => !suspects.has(one))) {
      const error = await this.#settle(returner, entry)
      inARow = error === undefined ? 0 : inARow + 1
      if (inARow === FAILURES_IN_A_ROW) throw error
      if (this.#closing.signal.aborted) return
    }
    for (let next = suspects.next(); next && !this.#closing.signal.aborted; next = suspects.next()) {
      const isSafe = this.#lastAccepted && returner.idempotent !== false
      const error = await (isSafe ? this.#testStore(returner) : this.#settle(returner, next))
      if (error !== undefined) throw error
    }
  }

  /** Write one item. Resolves with the error if it must be tried again; undefined if it was accepted or put aside. */
  async #settle(returner: Returner, entry: QueueEntry): Promise<unknown> {
    const error = await this.#failureOf(returner, entry)
    if (error === undefined) {
      this.#suspects.delete(entry)
      this.#rememberAccepted(entry)
      await this.#settings.outbox.done(this.#settings.target, [entry])
      await this.#written([entry])
      await this.#reviewSuspects(returner)
    } else if (isUnsavable(error)) await this.#putAside([entry], this.#reasonOf(error))
    else {
      this.#suspects.failed(entry, this.#reasonOf(error))
      return error
    }
    return undefined
  }

  /** Test the store by writing the last accepted return again. Resolves with the error, if any. */
  async #testStore(returner: Returner): Promise<unknown> {
    const error = this.#lastAccepted && (await this.#failureOf(returner, this.#lastAccepted))
    if (error === undefined) await this.#reviewSuspects(returner)
    return error
  }

  /** Re-evaluate the suspects after the store has accepted another item. */
  async #reviewSuspects(returner: Returner): Promise<void> {
    for (const { entry, reason } of this.#suspects.otherTaken()) await this.#putAside([entry], reason)
    const next = this.#suspects.next()
    if (next) await this.#settle(returner, next)
  }

  async #failureOf(returner: Returner, entry: QueueEntry): Promise<unknown> {
    const { target, timeoutMs } = this.#settings
    const batch = `${target}/${entry.number}:${entry.since}`
    try {
      await writeItems(returner, [entry], { batch, timeoutMs, taken: [] })
      return undefined
    } catch (error) {
      return error ?? new Error('It failed without a reason.')
    }
  }

  /** Return the reason of a failure for logs and states, without the secret options of the returner. */
  #reasonOf(error: unknown): string {
    return withoutSecrets(this.#settings.log, messageOf(error))
  }

  #rememberAccepted(entry: QueueEntry | undefined): void {
    if (entry?.item.kind === 'return') this.#lastAccepted = entry
  }

  async #putAsideOutdated({ entries }: OutboxBatch): Promise<boolean> {
    const { keepMs } = this.#settings
    const old = keepMs > 0 ? entries.filter(({ since }) => since < this.#now() - keepMs) : []
    if (old.length > 0)
      await this.#putAside(
        old,
        `it could not be written within the time limit: ${this.#state.error ?? 'the store was unavailable'}`,
      )
    return old.length > 0
  }

  async #putAside(entries: readonly QueueEntry[], reason: string): Promise<void> {
    const { outbox, target, log } = this.#settings
    await outbox.deadLetter(target, entries, reason)
    for (const entry of entries) this.#suspects.delete(entry)
    const records = entries.length === 1 ? '1 record was' : `${entries.length} records were`
    const why = reason.replace(/\.$/, '')
    log.error(
      `Returner ${this.#name}: ${records} put aside, not written: ${why}. On a master see salt-run returner.status, retry and purge.`,
    )
  }

  async #written(entries: readonly QueueEntry[]): Promise<void> {
    const { log } = this.#settings
    this.#settings.onTried?.(entries)
    const wasDown = this.#state.state === 'down'
    this.#state = writtenState(this.#state, entries.length, this.#now())
    this.#isStateStale = true
    if (wasDown) {
      log.info(`Returner ${this.#name}: its store accepts records again.`)
      this.#settings.onState?.(this.#state)
    }
    if (wasDown || this.#now() - this.#stateStoredAt > STATE_INTERVAL_MS) await this.#storeState()
  }

  async #failed(error: unknown): Promise<void> {
    const reason = this.#reasonOf(error)
    const wasUp = this.#state.state === 'up'
    this.#state = failedState(this.#state, reason, this.#now())
    if (wasUp) {
      this.#settings.log.warn(
        `Returner ${this.#name}: its store accepts no records; they wait in the outbox. ${reason}`,
      )
      this.#settings.onState?.(this.#state)
    }
    this.#reportWaiting()
    await this.#storeState()
    await this.#closeReturner()
  }

  async #closeReturner(): Promise<void> {
    const returner = this.#returner
    this.#returner = undefined
    await withDeadline('close', this.#settings.timeoutMs, () => returner?.close?.()).catch(() => undefined)
  }

  /** Report waiting items, each of them once. Never throws: if the outbox cannot be read now, they are reported later. */
  #reportWaiting(): void {
    const { outbox, target, onTried, log } = this.#settings
    if (!onTried) return
    try {
      const fresh = outbox.after(target, this.#reportedUpTo)
      this.#reportedUpTo = fresh.at(-1)?.number ?? this.#reportedUpTo
      if (fresh.length > 0) onTried(fresh, this.#state.error)
    } catch (error) {
      log.debug(`Returner ${this.#name}: waiting records could not be read: ${messageOf(error)}`)
    }
  }

  /** Wait until an item is added, gathered items are due, or the state must be stored. */
  async #idle(): Promise<void> {
    const { outbox, target, gather } = this.#settings
    const first = gather && Number.isFinite(gather.ms) ? outbox.after(target, -1)[0] : undefined
    const due = [
      ...(first && gather ? [first.since + gather.ms] : []),
      ...(this.#isStateStale ? [this.#stateStoredAt + STATE_INTERVAL_MS] : []),
    ]
    const ms = Math.max(0, Math.min(...due) - this.#now())
    const timer = due.length > 0 ? setTimeout(() => this.#wake.resolve(), ms) : undefined
    await this.#wake.promise
    clearTimeout(timer)
    this.#wake = deferred()
    if (this.#isStateStale && this.#stateStoredAt < this.#now() - STATE_INTERVAL_MS) await this.#storeState()
  }

  /** Store the state, which other processes read. Continues if the disk is full. */
  async #storeState(): Promise<void> {
    this.#stateStoredAt = this.#now()
    this.#isStateStale = false
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
