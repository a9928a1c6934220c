/**
 * The frames that some reader has still to get, once for all readers: each has a position in it. Bounded: the oldest
 * frames go when it is full, whoever still needs them.
 */
export class EventLog<F extends { readonly length: number } = Buffer> {
  readonly #maxBytes: number
  #frames: (F | undefined)[] = []
  /** Index in `#frames` of the first frame that is kept, and its position. */
  #offset = 0
  #first = 0
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Position of the oldest frame that is kept. */
  get first(): number {
    return this.#first
  }

  /** Position the next frame will have. */
  get end(): number {
    return this.#first + this.#frames.length - this.#offset
  }

  push(frame: F): void {
    this.#frames.push(frame)
    this.#bytes += costOf(frame)
    while (this.#bytes > this.#maxBytes) this.#dropFirst()
  }

  /** The frame at a position between `first` and `end`. */
  at(position: number): F | undefined {
    return this.#frames[this.#offset + position - this.#first]
  }

  /** Forget the frames before a position. */
  dropBefore(position: number): void {
    if (position >= this.end) {
      this.#first = this.end
      this.#frames = []
      this.#offset = 0
      this.#bytes = 0
    }
    while (this.#first < position) this.#dropFirst()
  }

  #dropFirst(): void {
    this.#bytes -= costOf(this.#frames[this.#offset])
    this.#frames[this.#offset++] = undefined
    this.#first++
    if (this.#offset > 1024 && this.#offset * 2 > this.#frames.length) {
      this.#frames = this.#frames.slice(this.#offset)
      this.#offset = 0
    }
  }
}

/** What a frame takes in memory: a Buffer is an object besides its bytes. */
const costOf = (frame: { readonly length: number } | undefined) => (frame?.length ?? 0) + 256
