import type { QueuedParcel } from '../jobs/outbox.ts'

interface Suspect {
  readonly parcel: QueuedParcel
  readonly reason: string
  /** How often it failed between two that the store took. */
  readonly times: number
  /** It failed since the store last took another. */
  readonly lately: boolean
}

/** So often a parcel fails between two that the store takes, before it is blamed. */
const TIMES = 3

/** Parcels that failed alone: is it they, or the store? */
export class Suspects {
  readonly #all = new Map<number, Suspect>()
  #isUp = false

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  has({ number }: QueuedParcel): boolean {
    return this.#all.has(number)
  }

  /** Of the store nothing is known any more. */
  begin(): void {
    this.#isUp = false
    for (const [number, suspect] of this.#all) this.#all.set(number, { ...suspect, lately: false })
  }

  failed(parcel: QueuedParcel, reason: string): void {
    const times = this.#all.get(parcel.number)?.times ?? 0
    this.#all.set(parcel.number, { parcel, reason, times, lately: this.#isUp })
  }

  /** The store took another. Gives those that are to blame by that. */
  otherTaken(): Suspect[] {
    this.#isUp = true
    for (const [number, suspect] of this.#all)
      if (suspect.lately) this.#all.set(number, { ...suspect, times: suspect.times + 1, lately: false })
    return [...this.#all.values()].filter(({ times }) => times >= TIMES)
  }

  /** The one that is to be tried next: each in its turn. */
  next(): QueuedParcel | undefined {
    const [first] = this.#all.values()
    if (!first) return undefined
    this.#all.delete(first.parcel.number)
    this.#all.set(first.parcel.number, first)
    return first.parcel
  }

  delete({ number }: QueuedParcel): void {
    this.#all.delete(number)
  }
}
