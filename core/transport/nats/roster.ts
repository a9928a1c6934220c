/** The names of the masters that answer hellos, as a subscriber of this process knows them; none before it knows any. */
export class Roster {
  readonly #listeners = new Set<(gone: ReadonlySet<string>) => void>()
  readonly #newcomers = new Set<() => void>()
  #names: readonly string[] = []

  get names(): readonly string[] {
    return this.#names
  }

  /** Replace the names, and notify listeners of those that are gone, and that there are more. */
  set(names: readonly string[]): void {
    const gone = new Set(this.#names.filter((name) => !names.includes(name)))
    const hasMore = names.some((name) => !this.#names.includes(name))
    this.#names = names
    if (hasMore) for (const listener of [...this.#newcomers]) listener()
    if (gone.size > 0) for (const listener of [...this.#listeners]) listener(gone)
  }

  /** Note that a master is not there. */
  remove(name: string): void {
    this.set(this.#names.filter((each) => each !== name))
  }

  /** Add a listener for the moments at which there is one more. Returns a function that removes it. */
  onMore(listener: () => void): () => void {
    this.#newcomers.add(listener)
    return () => void this.#newcomers.delete(listener)
  }

  /** Add a listener. Returns a function that removes it. */
  onGone(listener: (gone: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Return the master that takes a request: the one that is asked for if it may be there, else any that is; undefined for whoever takes it. */
  choose(wanted?: string): string | undefined {
    const names = this.#names
    if (names.length === 0) return wanted
    if (wanted !== undefined && names.includes(wanted)) return wanted
    return names[Math.floor(Math.random() * names.length)]
  }
}
