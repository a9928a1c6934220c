/** Maximum number of masters that start at the same time, since anybody can announce a start. */
const MAX_ANNOUNCED = 64

/** The names of the masters that answer hellos, as a subscriber of this process knows them; none before it knows any. */
export class Roster {
  readonly #listeners = new Set<(gone: ReadonlySet<string>) => void>()
  readonly #newcomers = new Set<() => void>()
  #names: readonly string[] = []
  /** Masters that have announced their start, until a hello shows whether they are present. */
  readonly #announced = new Set<string>()

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
    this.#announced.delete(name)
    this.set(this.#names.filter((each) => each !== name))
  }

  /** Note that a master starts: requests can go to it before it has answered a hello. */
  announce(name: string): void {
    if (this.#announced.size < MAX_ANNOUNCED) this.#announced.add(name)
  }

  get announced(): readonly string[] {
    return [...this.#announced]
  }

  /** Forget the announcements of these masters: a hello since then has shown whether they are present. */
  forgetAnnounced(names: readonly string[]): void {
    for (const name of names) this.#announced.delete(name)
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

  /**
   * Return the master to send a request to: the wanted one if it may be present, else any present one; undefined if none is
   * known, so that any master may take the request.
   */
  choose(wanted?: string): string | undefined {
    const names = this.#names
    if (names.length === 0) return wanted
    if (wanted !== undefined && (names.includes(wanted) || this.#announced.has(wanted))) return wanted
    return names[Math.floor(Math.random() * names.length)]
  }
}
