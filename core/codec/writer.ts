/** Texts of up to this many characters are written in a loop, which is faster than a call into native code. */
const SHORT_TEXT = 48
/** Size of a new buffer, in bytes. */
const SIZE = 4096
/** Largest buffer that is kept for the next message, in bytes. */
const MAX_KEPT_BYTES = 1 << 20
/** Size from which bytes, and a value that is encoded already, become a separate part, in bytes. */
const PART = 1 << 16

/**
 * Writes MessagePack into a growing buffer. `old` selects the format in which text and bytes share a family: it has no
 * str 8, and bytes are written like text (wire protocol §1).
 */
export class Writer {
  readonly #old: boolean
  #bytes = Buffer.allocUnsafeSlow(SIZE)
  #at = 0
  /** The finished parts: the output before each large value, and that value. */
  #parts: Uint8Array[] | undefined

  constructor(old: boolean) {
    this.#old = old
  }

  /** Discard the output, and start a new message. */
  begin(parts?: Uint8Array[]): void {
    this.#at = 0
    this.#parts = parts
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(SIZE)
  }

  /** Return the output since the last `begin` or `take`. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#at)
    this.#at = 0
    if (this.#bytes.length <= MAX_KEPT_BYTES) return Buffer.from(taken)
    this.#bytes = Buffer.allocUnsafeSlow(SIZE)
    return taken
  }

  /** The position where the next value begins. */
  get position(): number {
    return this.#at
  }

  byteAt(position: number): number {
    return this.#bytes[position] as number
  }

  encoded(bytes: Uint8Array): void {
    if (this.#parts && bytes.length >= PART) this.#parts.push(this.take(), bytes)
    else this.#raw(bytes)
  }

  nil(): void {
    this.#u8(0xc0)
  }

  boolean(value: boolean): void {
    this.#u8(value ? 0xc3 : 0xc2)
  }

  /** Write an integer in the shortest form, any other number as a float. */
  number(value: number): void {
    if (!Number.isSafeInteger(value)) this.float(value)
    else if (value >= 0) this.#natural(value)
    else if (value >= -0x20) this.#u8(0x100 + value)
    else if (value >= -0x80) this.#u16(0xd000 + 0x100 + value)
    else if (value >= -0x8000) this.#head(0xd1, 2, 0x1_0000 + value)
    else if (value >= -0x8000_0000) this.#head(0xd2, 4, 0x1_0000_0000 + value)
    else this.integer64(BigInt(value))
  }

  #natural(value: number): void {
    if (value < 0x80) this.#u8(value)
    else if (value < 0x100) this.#u16(0xcc00 + value)
    else if (value < 0x1_0000) this.#head(0xcd, 2, value)
    else if (value < 0x1_0000_0000) this.#head(0xce, 4, value)
    else this.integer64(BigInt(value))
  }

  /** Write an integer from -2^63 to 2^64 - 1. */
  integer64(value: bigint): void {
    const at = this.#room(9)
    this.#bytes[at] = value < 0n ? 0xd3 : 0xcf
    this.#bytes.writeBigUInt64BE(BigInt.asUintN(64, value), at + 1)
  }

  float(value: number): void {
    const at = this.#room(9)
    this.#bytes[at] = 0xcb
    this.#bytes.writeDoubleBE(value, at + 1)
  }

  /** Write a text in UTF-8. A lone surrogate becomes the replacement character, as everywhere in Node. */
  text(value: string): void {
    if (value.length <= SHORT_TEXT && this.#ascii(value)) return
    const size = Buffer.byteLength(value)
    this.#textHead(size)
    const at = this.#room(size)
    this.#bytes.write(value, at)
  }

  /** Write an ASCII text. Returns false, and writes nothing, if it is not ASCII. */
  #ascii(value: string): boolean {
    const start = this.#at
    const size = value.length
    this.#textHead(size)
    const at = this.#room(size)
    for (let n = 0; n < size; n++) {
      const code = value.charCodeAt(n)
      if (code >= 0x80) {
        this.#at = start
        return false
      }
      this.#bytes[at + n] = code
    }
    return true
  }

  #textHead(size: number): void {
    if (size < 0x20) this.#u8(0xa0 + size)
    else if (size < 0x100 && !this.#old) this.#u16(0xd900 + size)
    else if (size < 0x1_0000) this.#head(0xda, 2, size)
    else this.#head(0xdb, 4, size)
  }

  binary(view: ArrayBufferView): void {
    const size = view.byteLength
    this.binaryHead(size)
    this.encoded(new Uint8Array(view.buffer, view.byteOffset, size))
  }

  binaryHead(size: number): void {
    if (this.#old) this.#textHead(size)
    else this.#sized(0xc4, size)
  }

  arrayHead(size: number): void {
    if (size < 16) this.#u8(0x90 + size)
    else if (size < 0x1_0000) this.#head(0xdc, 2, size)
    else this.#head(0xdd, 4, size)
  }

  mapHead(size: number): void {
    if (size < 16) this.#u8(0x80 + size)
    else if (size < 0x1_0000) this.#head(0xde, 2, size)
    else this.#head(0xdf, 4, size)
  }

  extension(type: number, data: Uint8Array): void {
    const size = data.length
    const fixed = [1, 2, 4, 8, 16].indexOf(size)
    if (fixed >= 0) this.#u8(0xd4 + fixed)
    else this.#sized(0xc7, size)
    this.#u8(type)
    this.#raw(data)
  }

  /** Write a size in 8, 16 or 32 bits, after the first byte of that width. */
  #sized(first: number, size: number): void {
    if (size < 0x100) this.#u16(first * 0x100 + size)
    else if (size < 0x1_0000) this.#head(first + 1, 2, size)
    else this.#head(first + 2, 4, size)
  }

  /** @throws RangeError if the number does not fit: text, bytes and collections have 32 bits for their sizes */
  #head(first: number, width: 2 | 4, value: number): void {
    const at = this.#room(1 + width)
    this.#bytes[at] = first
    if (width === 2) this.#bytes.writeUInt16BE(value, at + 1)
    else this.#bytes.writeUInt32BE(value, at + 1)
  }

  #u8(value: number): void {
    const at = this.#room(1)
    this.#bytes[at] = value
  }

  #u16(value: number): void {
    const at = this.#room(2)
    this.#bytes[at] = value >>> 8
    this.#bytes[at + 1] = value
  }

  #raw(bytes: Uint8Array): void {
    const at = this.#room(bytes.length)
    this.#bytes.set(bytes, at)
  }

  /** Reserve `size` bytes, and return where they begin. This may replace the buffer. */
  #room(size: number): number {
    const at = this.#at
    const end = at + size
    if (end > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, end))
      this.#bytes.copy(grown, 0, 0, at)
      this.#bytes = grown
    }
    this.#at = end
    return at
  }
}
