/**
 * Shared log of the frames that readers have not received yet. Each reader has a position in it. The size is bounded: when the log
 * is full, the oldest frames are dropped, even if a reader still needs them.
 */
export class EventLog<F extends { readonly length: number } = Buffer> {
  readonly #maxBytes: number
  #frames: (F | undefined)[] = []
  /** Index in `#frames` of the oldest frame that is kept. */
  #offset = 0
  /** Position of that frame in the log. */
  #first = 0
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Position of the oldest frame that is kept. */
  get first(): number {
    return this.#first
  }

  /** Position of the next frame. */
  get end(): number {
    return this.#first + this.#frames.length - this.#offset
  }

  push(frame: F): void {
    this.#frames.push(frame)
    this.#bytes += costOf(frame)
    while (this.#bytes > this.#maxBytes) this.#dropFirst()
  }

  /** Return the frame at a position between `first` and `end`. */
  at(position: number): F | undefined {
    return this.#frames[this.#offset + position - this.#first]
  }

  /** Drop the frames before a position. */
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

/** Estimate the memory of a frame: its bytes and the Buffer object. */
const costOf = (frame: { readonly length: number } | undefined) => (frame?.length ?? 0) + 256
