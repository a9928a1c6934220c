import { Wakeup } from './wakeup.ts'

/** A queue from several sources to one reader. */
export class Inbox<T> {
  readonly #wakeup = new Wakeup()
  #items: T[] = []

  push(...items: T[]): void {
    this.#items.push(...items)
    this.wake()
  }

  get size(): number {
    return this.#items.length
  }

  /** Wake the reader without an item. */
  wake(): void {
    this.#wakeup.wake()
  }

  /** Take all items; wait for one until `moment` (milliseconds since 1970). */
  async take(moment: number): Promise<T[]> {
    if (this.#items.length === 0) await this.#wakeup.until(moment)
    return this.#items.splice(0)
  }
}
