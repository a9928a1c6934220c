import { SaltError } from '../base/errors.ts'
import { headerAt } from './header.ts'
import type { Value } from './values.ts'

/** In bytes: the limit of Salt's own stream decoders (wire protocol §1). */
const maxBuffered = 100 * 1024 * 1024

/**
 * Splits a stream of concatenated values (event sockets, wire protocol §11), wherever the chunks begin and end. Only the
 * headers are read until a value is complete, and each of them once.
 */
export class StreamDecoder<T = Value> {
  private readonly read: (bytes: Buffer) => T
  private readonly maxSize: number
  private buffer = Buffer.alloc(0)
  /** Position of the first value. */
  private start = 0
  private filled = 0
  /** Position up to which the headers of the first value have been read. */
  private scanned = 0
  /** Headers still to be read until the end of the first value is found. */
  private owed = 1

  /** `read` decodes a complete value of at most `maxSize` bytes: `decode`, or `decodeRaw` to keep bytes as bytes. */
  constructor(read: (bytes: Buffer) => T, maxSize = maxBuffered) {
    this.read = read
    this.maxSize = maxSize
  }

  /**
   * Add a chunk, and return the values that are complete now.
   * @throws SaltError DECODE_FAILED; the rest of the stream cannot be decoded then
   */
  push(chunk: Uint8Array): T[] {
    this.append(chunk)
    const values: T[] = []
    while (this.scan()) {
      values.push(this.read(this.buffer.subarray(this.start, this.scanned)))
      this.start = this.scanned
      this.owed = 1
    }
    this.dropBefore(this.start)
    return values
  }

  private append(chunk: Uint8Array): void {
    const size = this.filled + chunk.length
    if (size > this.buffer.length) this.grow(size)
    this.buffer.set(chunk, this.filled)
    this.filled = size
  }

  private grow(size: number): void {
    const grown = Buffer.alloc(Math.max(size, Math.min(2 * this.buffer.length, this.maxSize)))
    this.buffer.copy(grown, 0, 0, this.filled)
    this.buffer = grown
  }

  /** Advance to the end of the first value; false if that has not arrived yet. */
  private scan(): boolean {
    while (this.owed > 0) {
      const header = headerAt(this.buffer, this.scanned, this.filled)
      if (header === undefined) return false
      this.scanned += header.size
      this.owed += header.elements - 1
      if (this.scanned - this.start + this.owed > this.maxSize) throw tooLarge(this.maxSize)
    }
    return this.scanned <= this.filled
  }

  /**
   * Keep only the incomplete value at the end, in a buffer of its size, so that a large message does not leave a large
   * buffer.
   */
  private dropBefore(start: number): void {
    if (start === 0) return
    this.buffer = Buffer.from(this.buffer.subarray(start, this.filled))
    this.filled -= start
    this.scanned -= start
    this.start = 0
  }
}

function tooLarge(maxSize: number): SaltError {
  return new SaltError('DECODE_FAILED', `A message on the stream is larger than ${maxSize} bytes.`)
}
