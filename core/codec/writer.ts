/** Texts up to this many characters are written one by one: faster than a call into Node. */
const SHORT_TEXT = 48
/** Bytes of a new buffer. */
const SIZE = 4096
/** A buffer is kept for the next message, unless it has grown beyond this. Bytes. */
const KEPT = 1 << 20
/** Bytes from which on a value that is encoded already is a part of its own. */
const PART = 1 << 16

/**
 * Writes MessagePack into a buffer that grows. `old` is the format before text and bytes had families of their own: no
 * str 8, and bytes are written as text is (§1).
 */
export class Writer {
  readonly #old: boolean
  #bytes = Buffer.allocUnsafeSlow(SIZE)
  #at = 0
  /** Gets what has been written before each large value that is encoded already, and that value. */
  #parts: Uint8Array[] | undefined

  constructor(old: boolean) {
    this.#old = old
  }

  /** Forgets what was written. */
  begin(parts?: Uint8Array[]): void {
    this.#at = 0
    this.#parts = parts
    if (this.#bytes.length > KEPT) this.#bytes = Buffer.allocUnsafeSlow(SIZE)
  }

  /** What was written. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#at)
    this.#at = 0
    if (this.#bytes.length <= KEPT) return Buffer.from(taken)
    this.#bytes = Buffer.allocUnsafeSlow(SIZE)
    return taken
  }

  /** Where the next value begins. */
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

  /** An integer in as few bytes as it takes, a float otherwise. */
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

  /** From -2^63 to 2^64 - 1. */
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

  /** A lone surrogate has no UTF-8; as everywhere in Node it becomes the replacement character. */
  text(value: string): void {
    if (value.length <= SHORT_TEXT && this.#ascii(value)) return
    const size = Buffer.byteLength(value)
    this.#textHead(size)
    const at = this.#room(size)
    this.#bytes.write(value, at)
  }

  /** False if it is not ASCII; nothing is written then. */
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
    if (this.#old) this.#textHead(size)
    else this.#sized(0xc4, size)
    this.#raw(new Uint8Array(view.buffer, view.byteOffset, size))
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

  /** A head in three widths: 8, 16 and 32 bits. */
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

  /** Moves over `size` bytes and gives where they begin. The buffer may be another one then. */
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
