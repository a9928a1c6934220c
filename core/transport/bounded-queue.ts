/** A queue of limited length, for one consumer, which iterates over it. */
export class BoundedQueue<T> implements AsyncIterable<T> {
  readonly #limit: number
  #values: T[] = []
  /** Index of the first value; those before it have been removed. */
  #first = 0
  #wake: (() => void) | undefined
  #onShift: (() => void) | undefined
  #closed = false

  constructor(limit: number) {
    this.#limit = limit
  }

  get length(): number {
    return this.#values.length - this.#first
  }

  /** Add a value. Returns false, and adds nothing, if the queue is full or closed. */
  offer(value: T): boolean {
    if (this.#closed || this.length >= this.#limit) return false
    this.#values.push(value)
    this.#wake?.()
    return true
  }

  /**
   * Add a value once the queue is not full. Only one call may wait at a time. Resolves with false if the queue is
   * closed.
   */
  async put(value: T): Promise<boolean> {
    while (!this.#closed && !this.offer(value)) {
      await new Promise<void>((resolve) => {
        this.#onShift = resolve
      })
    }
    return !this.#closed
  }

  /** Remove and return the oldest value. */
  shift(): T | undefined {
    if (this.length === 0) return undefined
    const value = this.#values[this.#first] as T
    this.#values[this.#first++] = undefined as T
    this.#onShift?.()
    if (this.#first > 1024 && this.#first * 2 > this.#values.length) this.#compact()
    return value
  }

  /** End the iteration; with `drain` after the remaining values. */
  close({ drain = false } = {}): void {
    this.#closed = true
    if (!drain) {
      this.#values = []
      this.#first = 0
    }
    this.#wake?.()
    this.#onShift?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    while (true) {
      while (this.length > 0) yield this.shift() as T
      if (this.#closed) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
  }

  #compact(): void {
    this.#values = this.#values.slice(this.#first)
    this.#first = 0
  }
}
