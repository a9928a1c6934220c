import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { keysUnder, openStore, type Store, type StoreChange, type StoreOptions } from '../store/index.ts'

/** An item for an external store. */
export type OutboxItem =
  /** `endtime` is the time of the return (UTC, ISO 8601), if it is recorded. */
  | { readonly kind: 'return'; readonly ret: Fields; readonly endtime?: string }
  | {
      readonly kind: 'load'
      readonly jid: string
      readonly load: Fields
      readonly minions: readonly string[]
    }
  | { readonly kind: 'minions'; readonly jid: string; readonly minions: readonly string[] }
  | { readonly kind: 'event'; readonly tag: string; readonly data: Fields }

/** Items that are written together. A batch with events has the same content in every attempt. */
export interface OutboxBatch {
  readonly target: string
  /** Unique among the batches of this outbox. */
  readonly id: string
  readonly entries: readonly QueueEntry[]
}

export interface QueueEntry {
  readonly number: number
  /** Time at which it was added, in milliseconds since 1970. */
  readonly since: number
  readonly item: OutboxItem
}

export interface DeadLetter extends QueueEntry {
  readonly reason: string
}

/** The state of a target. Times are in milliseconds since 1970. */
export interface TargetState {
  readonly state: 'up' | 'down'
  readonly since: number
  /** Number of items written since the target was created. */
  readonly written: number
  /** Number of items written in the current interval of up to a minute, and its start. */
  readonly lately?: { readonly since: number; readonly written: number }
  /** Number of failed attempts since the last successful one. */
  readonly failures: number
  readonly error?: string
  /** The last error, also after later successes. */
  readonly lastError?: { readonly error: string; readonly at: number }
}

/** A batch is written once it has this many items, or its first one has this age. */
export interface BatchLimits {
  readonly entries: number
  readonly ms: number
}

/** Limits of a new batch. They do not apply to a batch with events that was begun before. */
export interface BatchShape {
  readonly gather?: BatchLimits | undefined
  /** Maximum number of items, {@link BATCH_ITEMS} by default. A batch also ends after about a megabyte. */
  readonly maxItems?: number | undefined
}

/** Default maximum of items in a batch. */
export const BATCH_ITEMS = 500
const MAX_BATCH_BYTES = 1024 * 1024
/** Range of item numbers at the front of the queue that is counted exactly. */
const NEAR_RANGE = 20 * BATCH_ITEMS
const MAX_NAME_LENGTH = 200

/**
 * Queues on disk of items for external stores, one for each target (a text that the caller chooses).
 * Keys: `['out', target, n]` → item, `['dead', target, n]` → item with the reason, `['out-next', target]` → next n,
 * `['out-batch', target]` → the last n of the batch that is being written, if it has events, which stores identify only by
 * their batch; `['out-state', target]`, and `['out-name', name]` → the text of a target that cannot be a key. The queues
 * can share a store with other records, so that {@link put} is part of one transaction with them. Several processes may add
 * items; only one removes them.
 */
export class Outbox {
  readonly #store: Store
  readonly #clock: Clock

  /** Open an outbox with its own store in `directory`. */
  static open(directory: string, options?: StoreOptions): Outbox {
    return Outbox.at(Outbox.path(directory), options)
  }

  /** Return the path of the outbox's own store in `directory`. */
  static path(directory: string): string {
    return join(directory, 'outbox.mdb')
  }

  /** Open an outbox in `file`, which may contain other records. */
  static at(file: string, options?: StoreOptions): Outbox {
    return new Outbox(openStore(file, options))
  }

  constructor(store: Store, clock: Clock = systemClock) {
    this.#store = store
    this.#clock = clock
  }

  /** Add items within a transaction of the same store. */
  static put(
    records: StoreChange,
    targets: readonly string[],
    items: readonly OutboxItem[],
    since: number,
  ): void {
    for (const target of targets) {
      const name = nameOf(target)
      if (name !== target && !records.has(['out-name', name])) records.put(['out-name', name], target)
      let number = Number(records.get(['out-next', name]) ?? 0)
      for (const item of items) records.put(['out', name, number++], { since, parcel: item })
      records.put(['out-next', name], number)
    }
  }

  /** Add items to the queues of all `targets`. Resolves when they are on disk. */
  async add(targets: readonly string[], items: readonly OutboxItem[]): Promise<void> {
    if (targets.length === 0 || items.length === 0) return
    const since = this.#clock.now()
    await this.#store.change((records) => Outbox.put(records, targets, items, since))
  }

  /** Return the targets with queued items. */
  targets(): string[] {
    return this.#names('out').map((name) => this.#textOf(name))
  }

  /** Return the targets with queued items, dead letters or a state. */
  known(): string[] {
    const names = new Set(['out', 'dead', 'out-state'].flatMap((kind) => this.#names(kind)))
    return [...names].sort().map((name) => this.#textOf(name))
  }

  /** Return the ids of the jobs that have queued items. */
  jids(): Set<string> {
    const found = new Set<string>()
    for (const key of this.#store.keys(keysUnder('out'))) {
      const queued = this.#store.getLazy(key)
      const item = isRecord(queued) ? (queued.parcel as OutboxItem | undefined) : undefined
      if (item?.kind === 'return') found.add(String(item.ret.jid))
      else if (item && item.kind !== 'event') found.add(item.jid)
    }
    return found
  }

  /** Return the next batch. A batch with events remains the next one until it is done or put aside. */
  async next(target: string, shape: BatchShape = {}): Promise<OutboxBatch | undefined> {
    const name = nameOf(target)
    const marked = this.#store.get(['out-batch', name])
    if (typeof marked === 'number') return batchOf(target, this.#upTo(name, marked))
    const batch = batchOf(target, this.#fresh(name, 0, shape))
    if (batch && hasEvents(batch)) await this.#store.change((records) => mark(records, batch))
    return batch
  }

  /** Remove a written batch and return the next one, as {@link next} does, in one commit. */
  async finish(batch: OutboxBatch, shape: BatchShape = {}): Promise<OutboxBatch | undefined> {
    const name = nameOf(batch.target)
    const last = batch.entries.at(-1)?.number ?? 0
    const following = batchOf(batch.target, this.#fresh(name, last + 1, shape))
    await this.#store.change((records) => {
      remove(records, name, batch.entries)
      if (following && hasEvents(following)) mark(records, following)
    })
    return following
  }

  /** Return up to {@link BATCH_ITEMS} queued items with a greater number. */
  after(target: string, number: number): QueueEntry[] {
    const found: QueueEntry[] = []
    for (const queued of this.#queued('out', nameOf(target), number + 1)) {
      found.push(queued)
      if (found.length === BATCH_ITEMS) break
    }
    return found
  }

  #upTo(name: string, last: number): QueueEntry[] {
    const entries: QueueEntry[] = []
    for (const queued of this.#queued('out', name)) {
      if (queued.number > last) break
      entries.push(queued)
    }
    return entries
  }

  #fresh(name: string, from: number, { gather, maxItems = BATCH_ITEMS }: BatchShape): QueueEntry[] {
    const entries: QueueEntry[] = []
    let bytes = 0
    const isFull = () => entries.length >= maxItems || bytes > MAX_BATCH_BYTES
    for (const queued of this.#queued('out', name, from)) {
      entries.push(queued)
      bytes += sizeOf(queued.item)
      if (isFull()) break
    }
    if (!gather || isFull() || entries.length >= gather.entries) return entries
    const waited = this.#clock.now() - (entries[0]?.since ?? 0)
    return waited >= 0 && waited < gather.ms ? [] : entries // negative if the clock was set back
  }

  /** Remove written items of a batch, and the mark of the batch. */
  async done(target: string, entries: readonly QueueEntry[]): Promise<void> {
    await this.#store.change((records) => remove(records, nameOf(target), entries))
  }

  /** Put items aside that will never be written. */
  async deadLetter(target: string, entries: readonly QueueEntry[], reason: string): Promise<void> {
    const name = nameOf(target)
    await this.#store.change((records) => {
      for (const { number, since, item } of entries)
        records.put(['dead', name, number], { since, parcel: item, reason })
      remove(records, name, entries)
    })
  }

  /** List the items that were put aside, oldest first. */
  *dead(target: string): Generator<DeadLetter> {
    for (const { number, since, item, record } of this.#queued('dead', nameOf(target)))
      yield { number, since, item, reason: typeof record.reason === 'string' ? record.reason : '' }
  }

  /** Queue items again that were put aside: all, or those with these numbers. Resolves with their number. */
  async retry(target: string, numbers?: readonly number[]): Promise<number> {
    return this.#eachDead(target, numbers, (records, { item, since }) =>
      Outbox.put(records, [target], [item], since),
    )
  }

  /** Delete items that were put aside: all, or those with these numbers. Resolves with their number. */
  async purge(target: string, numbers?: readonly number[]): Promise<number> {
    return this.#eachDead(target, numbers, () => undefined)
  }

  /** Return the number of queued items and of those put aside, and the time of the oldest queued one. */
  counts(target: string): { queued: number; dead: number; oldest?: number } {
    const name = nameOf(target)
    const [oldest] = this.#queued('out', name)
    return {
      queued: oldest ? this.#countFrom(name, oldest.number) : 0,
      dead: this.#store.count(keysUnder('dead', name)),
      ...(oldest && { oldest: oldest.since }),
    }
  }

  /** Count items from the number `first`. Numbers are missing only near it, where items of a batch were removed separately. */
  #countFrom(name: string, first: number): number {
    const next = Number(this.#store.get(['out-next', name]) ?? first)
    const near = Math.min(next, first + NEAR_RANGE)
    return this.#store.count({ from: ['out', name, first], to: ['out', name, near] }) + next - near
  }

  state(target: string): TargetState | undefined {
    const state = this.#store.get(['out-state', nameOf(target)])
    return isRecord(state) ? (state as unknown as TargetState) : undefined
  }

  setState(target: string, state: TargetState): Promise<void> {
    return this.#store.put(['out-state', nameOf(target)], state)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #eachDead(
    target: string,
    numbers: readonly number[] | undefined,
    act: (records: StoreChange, dead: QueueEntry) => void,
  ): Promise<number> {
    let count = 0
    for (const page of pages(this.dead(target), ({ number }) => numbers?.includes(number) ?? true)) {
      await this.#store.change((records) => {
        for (const dead of page) {
          act(records, dead)
          records.remove(['dead', nameOf(target), dead.number])
        }
      })
      count += page.length
    }
    return count
  }

  *#queued(
    kind: 'out' | 'dead',
    name: string,
    from = 0,
  ): Generator<QueueEntry & { readonly record: Fields }> {
    for (const { key, value } of this.#store.entries({
      ...keysUnder(kind, name),
      from: [kind, name, from],
    })) {
      if (!isRecord(value) || !isRecord(value.parcel)) continue
      yield {
        number: Number(key[2]),
        since: typeof value.since === 'number' ? value.since : 0,
        item: value.parcel as unknown as OutboxItem,
        record: value,
      }
    }
  }

  /** Return the names of one kind, with one look-up for each, however many items it has. */
  #names(kind: string): string[] {
    const names: string[] = []
    let from: readonly (string | number)[] = [kind]
    for (;;) {
      const [key] = this.#store.keys({ ...keysUnder(kind), from })
      if (!key) return names
      const name = String(key[1])
      names.push(name)
      from = keysUnder(kind, name).to
    }
  }

  #textOf(name: string): string {
    return String(this.#store.get(['out-name', name]) ?? name)
  }
}

/** Return the name of a target in keys. */
const nameOf = (target: string): string =>
  target.length <= MAX_NAME_LENGTH && target.search(NO_KEY) < 0
    ? target
    : `${target.slice(0, 40).replace(NO_KEY, '')}#${createHash('sha256').update(target).digest('hex')}`

/** Characters that a key of a store cannot have. */
const NO_KEY = /[\0\u{10ffff}]/gu

/** Estimate the size of a value in bytes, from its texts and buffers. */
function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length
  if (value instanceof Uint8Array) return value.length
  if (typeof value !== 'object' || value === null || depth > 8) return 8
  return Object.values(value).reduce<number>((sum, member) => sum + sizeOf(member, depth + 1), 8)
}

function batchOf(target: string, entries: readonly QueueEntry[]): OutboxBatch | undefined {
  const [first, last] = [entries[0], entries.at(-1)]
  return (
    first &&
    last && { target, id: `${nameOf(target)}:${first.number}-${last.number}:${first.since}`, entries }
  )
}

const hasEvents = ({ entries }: OutboxBatch): boolean => entries.some(({ item }) => item.kind === 'event')

function mark(records: StoreChange, { target, entries }: OutboxBatch): void {
  records.put(['out-batch', nameOf(target)], entries.at(-1)?.number)
}

function remove(records: StoreChange, name: string, entries: readonly QueueEntry[]): void {
  for (const { number } of entries) records.remove(['out', name, number])
  records.remove(['out-batch', name])
}

/** List the chosen items in pages of at most {@link BATCH_ITEMS}. */
function* pages<T>(all: Iterable<T>, isChosen: (one: T) => boolean): Generator<readonly T[]> {
  let page: T[] = []
  for (const one of all) {
    if (isChosen(one)) page.push(one)
    if (page.length < BATCH_ITEMS) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}
