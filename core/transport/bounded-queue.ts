/** A queue with an end: values that are offered on one side and iterated over, by one consumer, on the other. */
export class BoundedQueue<T> implements AsyncIterable<T> {
  readonly #limit: number
  #values: T[] = []
  /** Index of the first value; what is before it has been taken. */
  #first = 0
  #wake: (() => void) | undefined
  #room: (() => void) | undefined
  #closed = false

  constructor(limit: number) {
    this.#limit = limit
  }

  get length(): number {
    return this.#values.length - this.#first
  }

  /** False if the queue is full or closed; the value is then not taken. */
  offer(value: T): boolean {
    if (this.#closed || this.length >= this.#limit) return false
    this.#values.push(value)
    this.#wake?.()
    return true
  }

  /** Waits for room instead of refusing. One at a time; false if the queue is closed. */
  async put(value: T): Promise<boolean> {
    while (!this.#closed && !this.offer(value)) {
      await new Promise<void>((resolve) => {
        this.#room = resolve
      })
    }
    return !this.#closed
  }

  /** Take the oldest value. */
  shift(): T | undefined {
    if (this.length === 0) return undefined
    const value = this.#values[this.#first] as T
    this.#values[this.#first++] = undefined as T
    this.#room?.()
    if (this.#first > 1024 && this.#first * 2 > this.#values.length) this.#compact()
    return value
  }

  /** Iteration ends; with `drain` after the values that are still there. */
  close({ drain = false } = {}): void {
    this.#closed = true
    if (!drain) {
      this.#values = []
      this.#first = 0
    }
    this.#wake?.()
    this.#room?.()
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
