import type { KeyFileStore, KeyState } from './key-files.ts'

/** Time after which the keys are counted again. */
const RECOUNT_MS = 1000

/** Counts the keys in a state that strangers can have filed, including those being filed. */
export class KeyPlaces {
  readonly #files: KeyFileStore
  readonly #state: KeyState
  #taken = 0
  #counting: Promise<void> | undefined
  #countedUntil = 0

  constructor(files: KeyFileStore, state: KeyState) {
    this.#files = files
    this.#state = state
  }

  /**
   * Reserve a place, since many may ask at once, and return whether the limit was exceeded. The keys are counted again regularly: other
   * processes file and delete keys, too.
   */
  async areTaken(max: number): Promise<boolean> {
    if (performance.now() > this.#countedUntil) {
      this.#countedUntil = performance.now() + RECOUNT_MS
      this.#counting = this.#count()
    }
    await this.#counting
    return this.#taken++ >= max
  }

  async #count(): Promise<void> {
    this.#taken = (await this.#files.list(this.#state)).length
  }
}
