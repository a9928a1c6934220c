import { SaltError } from '../base/errors.ts'
import { decode } from './decoder.ts'
import { headerAt } from './header.ts'
import type { Value } from './values.ts'

/** The limit of Salt's own stream decoders (§1). */
const maxBuffered = 100 * 1024 * 1024

/**
 * Cuts a stream of concatenated values (event sockets, §11) into values, however the chunks fall.
 * Bytes are looked at once: only the end of a value is sought until all of it is there.
 */
export class StreamDecoder {
  private readonly read: (bytes: Uint8Array) => Value
  private buffer = Buffer.alloc(0)
  private filled = 0
  /** Up to here the headers of the first value have been seen. */
  private scanned = 0
  /** Values that are still to come until the first one is whole. */
  private owed = 1

  /** `read` makes a value of its bytes: `decode`, or `decodeRaw` where bytes shall stay bytes. */
  constructor(read: (bytes: Uint8Array) => Value = decode) {
    this.read = read
  }

  /**
   * The values that are whole now.
   * @throws SaltError DECODE_FAILED; nothing more can be made of the stream then.
   */
  push(chunk: Uint8Array): Value[] {
    this.append(chunk)
    const values: Value[] = []
    let start = 0
    while (this.scan()) {
      values.push(this.read(this.buffer.subarray(start, this.scanned)))
      start = this.scanned
      this.owed = 1
    }
    this.dropBefore(start)
    return values
  }

  private append(chunk: Uint8Array): void {
    const size = this.filled + chunk.length
    if (size > maxBuffered) throw tooLarge()
    if (size > this.buffer.length) this.grow(size)
    this.buffer.set(chunk, this.filled)
    this.filled = size
  }

  private grow(size: number): void {
    const grown = Buffer.alloc(Math.max(size, Math.min(2 * this.buffer.length, maxBuffered)))
    this.buffer.copy(grown, 0, 0, this.filled)
    this.buffer = grown
  }

  /** Moves to the end of the value; false if it is not there yet. */
  private scan(): boolean {
    while (this.owed > 0) {
      const header = headerAt(this.buffer, this.scanned, this.filled)
      if (header === undefined) return false
      this.scanned += header.size
      this.owed += header.elements - 1
      if (this.scanned + this.owed > maxBuffered) throw tooLarge()
    }
    return this.scanned <= this.filled
  }

  /** Keeps the rest only, which is less than a value, so that a large one leaves no large buffer behind. */
  private dropBefore(start: number): void {
    if (start === 0) return
    this.buffer = Buffer.from(this.buffer.subarray(start, this.filled))
    this.filled -= start
    this.scanned -= start
  }
}

function tooLarge(): SaltError {
  return new SaltError('DECODE_FAILED', `A message on the stream is larger than ${maxBuffered} bytes.`)
}
