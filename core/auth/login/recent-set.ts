const MAX = 10_000

/** A set of the most recently added items. */
export class RecentSet {
  readonly #items = new Set<string>()

  add(item: string): void {
    this.#items.delete(item)
    this.#items.add(item)
    if (this.#items.size > MAX) this.#items.delete(this.#items.values().next().value as string)
  }

  has(item: string): boolean {
    return this.#items.has(item)
  }

  delete(item: string): void {
    this.#items.delete(item)
  }
}
