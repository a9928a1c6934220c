type Listener = (state: 'up' | 'down') => void

/** Whether a connection is up, for those who want to know when that changes. */
export class ConnectionState {
  readonly #listeners: Listener[] = []
  #state: 'up' | 'down' = 'down'

  set(state: 'up' | 'down'): void {
    if (state === this.#state) return
    this.#state = state
    for (const listener of this.#listeners) listener(state)
  }

  /** The listener is told at once if the connection is up already. */
  listen(listener: Listener): void {
    this.#listeners.push(listener)
    if (this.#state === 'up') listener('up')
  }
}
