/** A change that waits for its commit. */
interface Waiting {
  /**
   * Applies the change inside the transaction. Returns the function that settles its promise once the transaction is on
   * disk.
   */
  readonly apply: () => () => void
  readonly failed: (error: unknown) => void
}

/** Changes in one transaction, at most, so that none blocks the event loop or the file for long. */
const MAX_CHANGES_PER_COMMIT = 1000

/**
 * Group commit: changes that arrive while a transaction is being written share the next one. `transact` runs its callback
 * inside a transaction, and resolves when that is on disk.
 */
export class CommitQueue {
  readonly #transact: (run: () => void) => Promise<void>
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined

  constructor(transact: (run: () => void) => Promise<void>) {
    this.#transact = transact
  }

  /** Apply a change. Resolves with its result once the transaction is on disk. */
  add<T>(change: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ apply: () => settleWith(change, resolve, reject), failed: reject })
      this.#writing ??= this.#write()
    })
  }

  /** Resolves when nothing is waiting or being written. */
  async idle(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) await this.#writeBatch()
    this.#writing = undefined
  }

  async #writeBatch(): Promise<void> {
    let batch: Waiting[] = []
    let written: (() => void)[] = []
    try {
      await this.#transact(() => {
        batch = this.#waiting.splice(0, MAX_CHANGES_PER_COMMIT)
        written = batch.map(({ apply }) => apply())
      })
      for (const settle of written) settle()
    } catch (error) {
      if (batch.length === 0) batch = this.#waiting.splice(0)
      for (const { failed } of batch) failed(error)
    }
  }
}

/** Apply a change. If it throws, only its own promise is rejected; the other changes of the transaction are kept. */
function settleWith<T>(
  change: () => T,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): () => void {
  try {
    const value = change()
    return () => resolve(value)
  } catch (error) {
    return () => reject(error)
  }
}
