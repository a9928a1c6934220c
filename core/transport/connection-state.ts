type Listener = (state: 'up' | 'down') => void

/** Tracks whether a connection is up, and notifies listeners of changes. */
export class ConnectionState {
  readonly #listeners = new Set<Listener>()
  #state: 'up' | 'down' = 'down'

  set(state: 'up' | 'down'): void {
    if (state === this.#state) return
    this.#state = state
    for (const listener of this.#listeners) listener(state)
  }

  get isUp(): boolean {
    return this.#state === 'up'
  }

  /** Add a listener. It is called at once if the connection is up already. Returns a function that removes it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    if (this.#state === 'up') listener('up')
    return () => void this.#listeners.delete(listener)
  }
}
