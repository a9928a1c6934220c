import type { QueueEntry } from './outbox.ts'

interface Suspect {
  readonly entry: QueueEntry
  readonly reason: string
  /** Number of times it failed between two accepted items. */
  readonly times: number
  /** True if it failed since the store last accepted another item. */
  readonly lately: boolean
}

/** Number of times an item must fail between two accepted ones before it is blamed. */
const TIMES = 3

/** Tracks items that failed alone, to decide whether they or the store are the cause. */
export class Suspects {
  readonly #all = new Map<number, Suspect>()
  #isUp = false

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  has({ number }: QueueEntry): boolean {
    return this.#all.has(number)
  }

  /** Begin a new round, in which the state of the store is unknown. */
  begin(): void {
    this.#isUp = false
    for (const [number, suspect] of this.#all) this.#all.set(number, { ...suspect, lately: false })
  }

  failed(entry: QueueEntry, reason: string): void {
    const times = this.#all.get(entry.number)?.times ?? 0
    this.#all.set(entry.number, { entry, reason, times, lately: this.#isUp })
  }

  /** Record that the store accepted another item. Returns the suspects that are proven to be the cause. */
  otherTaken(): Suspect[] {
    this.#isUp = true
    for (const [number, suspect] of this.#all)
      if (suspect.lately) this.#all.set(number, { ...suspect, times: suspect.times + 1, lately: false })
    return [...this.#all.values()].filter(({ times }) => times >= TIMES)
  }

  /** Return the suspect to try next, in rotation. */
  next(): QueueEntry | undefined {
    const [first] = this.#all.values()
    if (!first) return undefined
    this.#all.delete(first.entry.number)
    this.#all.set(first.entry.number, first)
    return first.entry
  }

  delete({ number }: QueueEntry): void {
    this.#all.delete(number)
  }
}
