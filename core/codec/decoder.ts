import { ExtData } from '@msgpack/msgpack'
import { SaltError } from '../base/errors.ts'
import { extensions } from './extensions.ts'
import { isContainer } from './header.ts'
import { PlainObject } from './plain-object.ts'
import { textOf } from './text.ts'
import { Float, type Value } from './values.ts'

/** Limits of one message. */
interface Limits {
  /** Levels of nested arrays and maps. */
  readonly depth: number
  /** Values that need an object of their own: arrays, maps, byte strings, extensions. */
  readonly objects: number
  /** Elements of all arrays and maps together; an entry of a map has two. */
  readonly elements: number
}

const trusted: Limits = { depth: 128, objects: 1_000_000, elements: 8_000_000 }
const untrusted: Limits = { depth: 64, objects: 4096, elements: 65_536 }

/**
 * Decode one MessagePack value of either dialect (wire protocol §1). Byte strings that are valid UTF-8 become text,
 * others stay bytes (copies). The data of extension types other than Salt's is read like a byte string. A map becomes a
 * plain object, or a `Map` where an object would lose something: a key that is not text, `__proto__`, an order of keys
 * that JavaScript would change. Integers beyond 2^53 are bigint.
 * @throws SaltError DECODE_FAILED if the message is malformed, exceeds a limit, or is followed by more bytes
 */
export function decode(bytes: Uint8Array): Value {
  return new Reader(bytes, trusted, true).message()
}

/** Decode as `decode` does, but without copies: byte strings are views of `bytes`, which nobody may change any more. */
export function decodeInPlace(bytes: Uint8Array): Value {
  return new Reader(bytes, trusted, true, false).message()
}

/** Decode as `decode` does, but keep the bytes of values (file chunks, wire protocol §7.4); only keys become text. */
export function decodeRaw(bytes: Uint8Array): Value {
  return new Reader(bytes, trusted, false).message()
}

/** Decode as `decode` does, with low limits, for messages from unauthenticated peers. */
export function decodeUntrusted(bytes: Uint8Array): Value {
  return new Reader(bytes, untrusted, true).message()
}

/** One pass over one message. Allocates only for elements whose bytes have arrived. */
class Reader {
  readonly bytes: Buffer
  private readonly limits: Limits
  private wantsText: boolean
  private readonly copies: boolean
  private at = 0
  private end: number
  private depth = 0
  private objects = 0
  private elements = 0
  /** Values still to be read in all open arrays and maps; each takes at least one byte. */
  private owed = 1

  constructor(bytes: Uint8Array, limits: Limits, wantsText: boolean, copies = true) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.limits = limits
    this.wantsText = wantsText
    this.copies = copies
    this.end = bytes.byteLength
  }

  message(): Value {
    const value = this.value()
    if (this.at < this.end) throw malformed(`${this.end - this.at} bytes follow the value`)
    return value
  }

  private value(): Value {
    this.owed--
    const head = this.bytes[this.take(1)]!
    if (head < 0x80) return head
    if (head < 0x90) return this.map(head & 0x0f)
    if (head < 0xa0) return this.array(head & 0x0f)
    if (head < 0xc0) return this.string(head & 0x1f)
    if (head < 0xe0) return readers[head - 0xc0]!(this)
    return head - 0x100
  }

  /** Advance by `size` bytes, and return where they begin. At least one byte for each value still owed must remain. */
  take(size: number): number {
    const start = this.at
    if (size > this.end - start - this.owed) throw malformed('it ends early')
    this.at = start + size
    return start
  }

  size(width: 1 | 2 | 4): number {
    return this.bytes.readUIntBE(this.take(width), width)
  }

  string(size: number): string | Buffer {
    return this.stringFrom(this.take(size))
  }

  private stringFrom(start: number): string | Buffer {
    const text = this.wantsText ? textOf(this.bytes, start, this.at) : undefined
    return text ?? this.bytesFrom(start)
  }

  private bytesFrom(start: number): Buffer {
    this.countObject()
    const view = this.bytes.subarray(start, this.at)
    return this.copies ? Buffer.from(view) : view
  }

  array(size: number): Value[] {
    this.enter(size)
    const array: Value[] = []
    for (let left = size; left > 0; left--) array.push(this.value())
    this.depth--
    return array
  }

  map(size: number): { [key: string]: Value } | Map<unknown, Value> {
    this.enter(2 * size)
    const plain = new PlainObject()
    for (let left = size; left > 0; left--) {
      const key = this.key()
      if (!plain.accepts(key)) return this.mapFrom(plain.members, key, left)
      plain.members[key] = this.value()
    }
    this.depth--
    return plain.members
  }

  /** Continue with a `Map` from the first entry that a plain object cannot hold. */
  private mapFrom(object: { [key: string]: Value }, key: unknown, left: number): Map<unknown, Value> {
    const map = new Map<unknown, Value>(Object.entries(object))
    map.set(key, this.value())
    for (let more = left - 1; more > 0; more--) map.set(this.key(), this.value())
    this.depth--
    return map
  }

  private key(): Value {
    if (isContainer(this.bytes[this.at] ?? 0)) throw malformed('a key of a map is an array or a map')
    const { wantsText } = this
    this.wantsText = true
    const key = this.value()
    this.wantsText = wantsText
    return key
  }

  private enter(count: number): void {
    this.countObject()
    this.owed += count
    this.elements += count
    if (this.owed > this.end - this.at) throw malformed('it claims more elements than it has bytes')
    if (this.elements > this.limits.elements) throw malformed(`it has over ${this.limits.elements} elements`)
    this.descend()
  }

  private descend(): void {
    if (++this.depth > this.limits.depth) throw malformed(`it is over ${this.limits.depth} levels deep`)
  }

  private countObject(): void {
    if (++this.objects > this.limits.objects) throw malformed(`it has over ${this.limits.objects} objects`)
  }

  extension(size: number): Value {
    const type = this.bytes[this.take(1)]
    const start = this.take(size)
    if (type !== 78 && type !== 79) return this.stringFrom(start)
    this.countObject()
    const value = extensions.decode(this.bytes.subarray(start, this.at), type, () => this.nested(start))
    if (value === null) throw malformed('a named constant is not a pair of name and value')
    return value instanceof ExtData ? this.stringFrom(start) : (value as Value)
  }

  /** Decode the payload of an extension, which is a complete message; it counts towards the limits of this one. */
  private nested(start: number): Value {
    const { at: after, end, owed, wantsText } = this
    Object.assign(this, { at: start, end: after, owed: 1, wantsText: true })
    this.descend()
    const value = this.message()
    this.depth--
    Object.assign(this, { at: after, end, owed, wantsText })
    return value
  }
}

/** Keep the kind of a float with a whole value: 3.0 must not become 3. */
function float(value: number): number | Float {
  return Number.isSafeInteger(value) ? new Float(value) : value
}

function narrow(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function malformed(reason: string): SaltError {
  return new SaltError('DECODE_FAILED', `The message cannot be decoded: ${reason}.`)
}

function unassigned(): never {
  throw malformed('it holds the byte 0xc1, which begins no value')
}

/** Readers for the first bytes 0xc0 to 0xdf. */
const readers: readonly ((reader: Reader) => Value)[] = [
  () => null,
  unassigned,
  () => false,
  () => true,
  (reader) => reader.string(reader.size(1)), // bin 8, 16, 32
  (reader) => reader.string(reader.size(2)),
  (reader) => reader.string(reader.size(4)),
  (reader) => reader.extension(reader.size(1)), // ext 8, 16, 32
  (reader) => reader.extension(reader.size(2)),
  (reader) => reader.extension(reader.size(4)),
  (reader) => float(reader.bytes.readFloatBE(reader.take(4))),
  (reader) => float(reader.bytes.readDoubleBE(reader.take(8))),
  (reader) => reader.size(1), // uint 8, 16, 32, 64
  (reader) => reader.size(2),
  (reader) => reader.size(4),
  (reader) => narrow(reader.bytes.readBigUInt64BE(reader.take(8))),
  (reader) => reader.bytes.readInt8(reader.take(1)), // int 8, 16, 32, 64
  (reader) => reader.bytes.readInt16BE(reader.take(2)),
  (reader) => reader.bytes.readInt32BE(reader.take(4)),
  (reader) => narrow(reader.bytes.readBigInt64BE(reader.take(8))),
  (reader) => reader.extension(1), // fixext
  (reader) => reader.extension(2),
  (reader) => reader.extension(4),
  (reader) => reader.extension(8),
  (reader) => reader.extension(16),
  (reader) => reader.string(reader.size(1)), // str 8, 16, 32
  (reader) => reader.string(reader.size(2)),
  (reader) => reader.string(reader.size(4)),
  (reader) => reader.array(reader.size(2)), // array 16, 32
  (reader) => reader.array(reader.size(4)),
  (reader) => reader.map(reader.size(2)), // map 16, 32
  (reader) => reader.map(reader.size(4)),
]
