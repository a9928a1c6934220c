import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { openStore, type Store, type StoreChange, type StoreOptions, under } from '../store/index.ts'
import { type Fields, isFields } from './records.ts'

/** Something on its way to a store outside. */
export type Parcel =
  /** `endtime`: when it came, in UTC, ISO 8601, if that is kept. */
  | { readonly kind: 'return'; readonly ret: Fields; readonly endtime?: string }
  | {
      readonly kind: 'load'
      readonly jid: string
      readonly load: Fields
      readonly minions: readonly string[]
    }
  | { readonly kind: 'minions'; readonly jid: string; readonly minions: readonly string[] }
  | { readonly kind: 'event'; readonly tag: string; readonly data: Fields }

/** What is written at once. One with events in it is the same however often that is tried. */
export interface Batch {
  readonly target: string
  /** Of no other batch of this outbox. */
  readonly id: string
  readonly parcels: readonly QueuedParcel[]
}

export interface QueuedParcel {
  readonly number: number
  /** When it was put in. Milliseconds since 1970. */
  readonly since: number
  readonly parcel: Parcel
}

export interface DeadParcel extends QueuedParcel {
  readonly reason: string
}

/** How it stands with a target. Times in milliseconds since 1970. */
export interface TargetState {
  readonly state: 'up' | 'down'
  readonly since: number
  /** Parcels written since the first. */
  readonly written: number
  /** Of those, how many since when: a minute or less. */
  readonly lately?: { readonly since: number; readonly written: number }
  /** Tries that failed since the last that did not. */
  readonly failures: number
  readonly error?: string
  /** The last that failed, also when others have not since. */
  readonly lastError?: { readonly error: string; readonly at: number }
}

/** A batch begins with so many parcels, or when its first is so old. */
export interface Gather {
  readonly parcels: number
  readonly ms: number
}

/** How a batch is to be, if there is not one of events that was begun. */
export interface BatchShape {
  readonly gather?: Gather | undefined
  /** It ends after so many parcels, {@link MANY} if not given; or after about a megabyte. */
  readonly most?: number | undefined
}

/** Parcels of a batch, if nothing else is asked for. */
export const MANY = 500
const MOST_BYTES = 1024 * 1024
/** So many at the front are counted one by one. */
const NEAR = 20 * MANY
const LONGEST_NAME = 200

/**
 * What is to be written to stores outside, on disk until it is there, one queue for each target (a text of the caller's).
 * Keys: `['out', target, n]` → parcel, `['dead', target, n]` → parcel with the reason, `['out-next', target]` → n,
 * `['out-batch', target]` → the last n of the batch that is being written, if it has events, which stores know by their
 * batch alone; `['out-state', target]`, and `['out-name', name]` → the text of a target that is too long for a key. They may
 * lie in a store of others: what {@link put} does is then one change with what it belongs to. One process takes out;
 * several may put in.
 */
export class Outbox {
  readonly #store: Store
  readonly #clock: Clock

  /** In a store of its own, in `directory`. */
  static open(directory: string, options?: StoreOptions): Outbox {
    return Outbox.at(Outbox.path(directory), options)
  }

  /** The file of a store of its own inside `directory`. */
  static path(directory: string): string {
    return join(directory, 'outbox.mdb')
  }

  /** In that file, which may be the store of others. */
  static at(file: string, options?: StoreOptions): Outbox {
    return new Outbox(openStore(file, options))
  }

  constructor(store: Store, clock: Clock = systemClock) {
    this.#store = store
    this.#clock = clock
  }

  /** Part of a change of the same store. */
  static put(
    records: StoreChange,
    targets: readonly string[],
    parcels: readonly Parcel[],
    since: number,
  ): void {
    for (const target of targets) {
      const name = nameOf(target)
      if (name !== target && !records.has(['out-name', name])) records.put(['out-name', name], target)
      let number = Number(records.get(['out-next', name]) ?? 0)
      for (const parcel of parcels) records.put(['out', name, number++], { since, parcel })
      records.put(['out-next', name], number)
    }
  }

  /** Resolves when it is on disk. */
  async add(targets: readonly string[], parcels: readonly Parcel[]): Promise<void> {
    if (targets.length === 0 || parcels.length === 0) return
    const since = this.#clock.now()
    await this.#store.change((records) => Outbox.put(records, targets, parcels, since))
  }

  /** With something in the queue. */
  targets(): string[] {
    return this.#names('out').map((name) => this.#textOf(name))
  }

  /** With anything: a queue, dead parcels, a state. */
  known(): string[] {
    const names = new Set(['out', 'dead', 'out-state'].flatMap((kind) => this.#names(kind)))
    return [...names].sort().map((name) => this.#textOf(name))
  }

  /** Jobs of which something is queued. */
  jids(): Set<string> {
    const found = new Set<string>()
    for (const key of this.#store.keys(under('out'))) {
      const queued = this.#store.glance(key)
      const parcel = isFields(queued) ? (queued.parcel as Parcel | undefined) : undefined
      if (parcel?.kind === 'return') found.add(String(parcel.ret.jid))
      else if (parcel && parcel.kind !== 'event') found.add(parcel.jid)
    }
    return found
  }

  /** The batch that is next, or the one of events that was being written: until it is done or buried it stays that one. */
  async next(target: string, shape: BatchShape = {}): Promise<Batch | undefined> {
    const name = nameOf(target)
    const marked = this.#store.get(['out-batch', name])
    if (typeof marked === 'number') return batchOf(target, this.#upTo(name, marked))
    const batch = batchOf(target, this.#fresh(name, 0, shape))
    if (batch && hasEvents(batch)) await this.#store.change((records) => mark(records, batch))
    return batch
  }

  /** All of a batch is written. Gives the one that is next, as {@link next} does, with one commit for both. */
  async finish(batch: Batch, shape: BatchShape = {}): Promise<Batch | undefined> {
    const name = nameOf(batch.target)
    const last = batch.parcels.at(-1)?.number ?? 0
    const following = batchOf(batch.target, this.#fresh(name, last + 1, shape))
    await this.#store.change((records) => {
      remove(records, name, batch.parcels)
      if (following && hasEvents(following)) mark(records, following)
    })
    return following
  }

  /** What is queued behind a number, at most {@link MANY}. */
  after(target: string, number: number): QueuedParcel[] {
    const found: QueuedParcel[] = []
    for (const queued of this.#queued('out', nameOf(target), number + 1)) {
      found.push(queued)
      if (found.length === MANY) break
    }
    return found
  }

  #upTo(name: string, last: number): QueuedParcel[] {
    const parcels: QueuedParcel[] = []
    for (const queued of this.#queued('out', name)) {
      if (queued.number > last) break
      parcels.push(queued)
    }
    return parcels
  }

  #fresh(name: string, from: number, { gather, most = MANY }: BatchShape): QueuedParcel[] {
    const parcels: QueuedParcel[] = []
    let bytes = 0
    const isFull = () => parcels.length >= most || bytes > MOST_BYTES
    for (const queued of this.#queued('out', name, from)) {
      parcels.push(queued)
      bytes += sizeOf(queued.parcel)
      if (isFull()) break
    }
    if (!gather || isFull() || parcels.length >= gather.parcels) return parcels
    const waited = this.#clock.now() - (parcels[0]?.since ?? 0)
    return waited >= 0 && waited < gather.ms ? [] : parcels // less than nothing: the clock was set back
  }

  /** Some of a batch are written: they go, and so does the mark of the batch. */
  async done(target: string, parcels: readonly QueuedParcel[]): Promise<void> {
    await this.#store.change((records) => remove(records, nameOf(target), parcels))
  }

  /** These will never be written: they are put aside. */
  async bury(target: string, parcels: readonly QueuedParcel[], reason: string): Promise<void> {
    const name = nameOf(target)
    await this.#store.change((records) => {
      for (const { number, since, parcel } of parcels)
        records.put(['dead', name, number], { since, parcel, reason })
      remove(records, name, parcels)
    })
  }

  /** Those that were put aside, oldest first. */
  *dead(target: string): Generator<DeadParcel> {
    for (const { number, since, parcel, record } of this.#queued('dead', nameOf(target)))
      yield { number, since, parcel, reason: String(record.reason ?? '') }
  }

  /** Put what was put aside, or only these numbers of it, back into the queue. Gives how many. */
  async retry(target: string, numbers?: readonly number[]): Promise<number> {
    return this.#eachDead(target, numbers, (records, { parcel, since }) =>
      Outbox.put(records, [target], [parcel], since),
    )
  }

  /** Drop what was put aside, or only these numbers of it. Gives how many. */
  async purge(target: string, numbers?: readonly number[]): Promise<number> {
    return this.#eachDead(target, numbers, () => undefined)
  }

  /** How many wait, how many were put aside, and since when the oldest waits. */
  counts(target: string): { queued: number; dead: number; oldest?: number } {
    const name = nameOf(target)
    const [oldest] = this.#queued('out', name)
    return {
      queued: oldest ? this.#countFrom(name, oldest.number) : 0,
      dead: this.#store.count(under('dead', name)),
      ...(oldest && { oldest: oldest.since }),
    }
  }

  /** Numbers are missing near the first only, where some of a batch were written one by one; behind, they are the count. */
  #countFrom(name: string, first: number): number {
    const next = Number(this.#store.get(['out-next', name]) ?? first)
    const near = Math.min(next, first + NEAR)
    return this.#store.count({ from: ['out', name, first], to: ['out', name, near] }) + next - near
  }

  state(target: string): TargetState | undefined {
    const state = this.#store.get(['out-state', nameOf(target)])
    return isFields(state) ? (state as unknown as TargetState) : undefined
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
    act: (records: StoreChange, dead: QueuedParcel) => void,
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
  ): Generator<QueuedParcel & { readonly record: Fields }> {
    for (const { key, value } of this.#store.entries({ ...under(kind, name), from: [kind, name, from] })) {
      if (!isFields(value) || !isFields(value.parcel)) continue
      yield {
        number: Number(key[2]),
        since: Number(value.since),
        parcel: value.parcel as unknown as Parcel,
        record: value,
      }
    }
  }

  /** One look for each name, however many parcels it has. */
  #names(kind: string): string[] {
    const names: string[] = []
    let from: readonly (string | number)[] = [kind]
    for (;;) {
      const [key] = this.#store.keys({ ...under(kind), from })
      if (!key) return names
      const name = String(key[1])
      names.push(name)
      from = under(kind, name).to
    }
  }

  #textOf(name: string): string {
    return String(this.#store.get(['out-name', name]) ?? name)
  }
}

/** What stands for the target in keys. */
const nameOf = (target: string): string =>
  target.length <= LONGEST_NAME
    ? target
    : `${target.slice(0, 40)}#${createHash('sha256').update(target).digest('hex')}`

/** Roughly, in bytes: of what is large in returns and events. */
function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length
  if (value instanceof Uint8Array) return value.length
  if (typeof value !== 'object' || value === null || depth > 8) return 8
  return Object.values(value).reduce<number>((sum, member) => sum + sizeOf(member, depth + 1), 8)
}

function batchOf(target: string, parcels: readonly QueuedParcel[]): Batch | undefined {
  const [first, last] = [parcels[0], parcels.at(-1)]
  return (
    first &&
    last && { target, id: `${nameOf(target)}:${first.number}-${last.number}:${first.since}`, parcels }
  )
}

const hasEvents = ({ parcels }: Batch): boolean => parcels.some(({ parcel }) => parcel.kind === 'event')

function mark(records: StoreChange, { target, parcels }: Batch): void {
  records.put(['out-batch', nameOf(target)], parcels.at(-1)?.number)
}

function remove(records: StoreChange, name: string, parcels: readonly QueuedParcel[]): void {
  for (const { number } of parcels) records.remove(['out', name, number])
  records.remove(['out-batch', name])
}

/** Those that are chosen, so many at a time that they are no burden. */
function* pages<T>(all: Iterable<T>, isChosen: (one: T) => boolean): Generator<readonly T[]> {
  let page: T[] = []
  for (const one of all) {
    if (isChosen(one)) page.push(one)
    if (page.length < MANY) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}
