import { Encoder, type EncoderOptions } from '@msgpack/msgpack'
import { messageOf } from '../base/errors.ts'
import { isContainer } from './header.ts'
import { representationOf } from './representation.ts'
import { MAX_DEPTH, unencodable, whyUnencodable } from './unencodable.ts'
import { DateTime, NamedConstant } from './values.ts'

/**
 * Writes the network dialect (§1): text and bytes share the raw family of old MessagePack.
 * Map and Set are written as map and array, Date as a date-time (nil if it is invalid); undefined members of maps
 * are left out; integers beyond 64 bits become decimal text. Objects of classes are written as `representationOf` says.
 * @throws SaltError ENCODE_FAILED, which names the place, for what has no form on the wire: a function, a cycle, a promise,
 *   over 128 levels.
 */
export function encodeNetwork(value: unknown): Buffer {
  return write(NetworkEncoder, value)
}

/** As `encodeNetwork` in the local dialect: modern MessagePack, which keeps text and bytes apart. */
export function encodeLocal(value: unknown): Buffer {
  return write(LocalEncoder, value)
}

const loneSurrogate = /\p{Surrogate}/u
/** Characters. */
const SHORT_TEXT = 64
/** Encoders keep their buffer for the next message, unless it has grown beyond this. */
const keptBytes = 1 << 20
const idle = new Map<typeof LocalEncoder, LocalEncoder>()

/** Uses the idle encoder of the dialect, or a new one if a getter in `value` encodes in turn. */
function write(Dialect: typeof LocalEncoder, value: unknown): Buffer {
  const encoder =
    idle.get(Dialect) ?? new Dialect({ maxDepth: MAX_DEPTH, ignoreUndefined: true, initialBufferSize: 4096 })
  idle.delete(Dialect)
  try {
    return Buffer.from(encoder.encodeSharedRef(value))
  } catch (thrown) {
    throw unencodable(whyUnencodable(value, 'value') ?? messageOf(thrown), thrown)
  } finally {
    if (encoder.bytes.length <= keptBytes) idle.set(Dialect, encoder)
  }
}

/** What the dialects need of the library's encoder. Its types hide these members, so its version is pinned. */
interface Writer {
  bytes: Uint8Array<ArrayBuffer>
  pos: number
  encodeSharedRef(value: unknown): Uint8Array<ArrayBuffer>
  doEncode(value: unknown, depth: number): void
  encodeNumber(value: number): void
  encodeNumberAsFloat(value: number): void
  encodeBigInt64(value: bigint): void
  encodeString(text: string): void
  encodeObject(object: object, depth: number): void
  encodeArray(array: Iterable<unknown> & { length: number }, depth: number): void
  encodeBinary(bytes: ArrayBufferView): void
  encodeExtension(extension: { type: number; data: Uint8Array }): void
  writeStringHeader(size: number): void
  writeU8(value: number): void
  writeU16(value: number): void
  writeU32(value: number): void
  writeU8a(bytes: Uint8Array): void
}

const Base = Encoder as unknown as new (options: EncoderOptions) => Writer

class LocalEncoder extends Base {
  override doEncode(value: unknown, depth: number): void {
    if (typeof value === 'bigint') this.encodeBigInt(value)
    else super.doEncode(value, depth)
  }

  private encodeBigInt(value: bigint): void {
    if (Number.isSafeInteger(Number(value))) this.encodeNumber(Number(value))
    else if (value >= -(2n ** 63n) && value < 2n ** 64n) this.encodeBigInt64(value)
    else this.encodeString(String(value))
  }

  /**
   * A lone surrogate has no UTF-8; as everywhere in Node it becomes the replacement character. Node also converts long
   * text many times faster than the library counts its bytes.
   */
  override encodeString(text: string): void {
    if (text.length > SHORT_TEXT || loneSurrogate.test(text)) this.encodeUtf8(Buffer.from(text))
    else super.encodeString(text)
  }

  private encodeUtf8(bytes: Buffer): void {
    this.writeStringHeader(bytes.length)
    this.writeU8a(bytes)
  }

  override encodeObject(object: object, depth: number): void {
    if (object instanceof Number) this.encodeNumberAsFloat(object.valueOf())
    else if (object instanceof Map) this.encodeEntries(object, depth)
    else if (object instanceof Set) this.encodeArray([...object], depth)
    else if (object instanceof DateTime) this.encodeExtension({ type: 78, data: Buffer.from(object.text) })
    else if (object instanceof Date) this.encodeDate(object, depth)
    else if (object instanceof NamedConstant) {
      this.encodeExtension({ type: 79, data: encodeLocal([object.name, object.value]) })
    } else this.encodeByForm(object, depth)
  }

  private encodeByForm(object: object, depth: number): void {
    const form = representationOf(object)
    if (form === object) super.encodeObject(object, depth)
    else this.doEncode(form, depth + 1)
  }

  /** Peers know the years 1 to 9999; one bad date must not cost them the message. */
  private encodeDate(date: Date, depth: number): void {
    const year = date.getUTCFullYear()
    this.doEncode(year >= 1 && year <= 9999 ? DateTime.from(date) : null, depth)
  }

  private encodeEntries(map: Map<unknown, unknown>, depth: number): void {
    const entries = [...map].filter(([, value]) => value !== undefined)
    this.writeMapHeader(entries.length)
    for (const [key, value] of entries) {
      this.encodeKey(key, depth + 1)
      this.doEncode(value, depth + 1)
    }
  }

  /** Peers refuse a message with any other key. */
  private encodeKey(key: unknown, depth: number): void {
    const start = this.pos
    this.doEncode(key, depth)
    if (isContainer(this.bytes[start]!)) throw new TypeError('a key of a map is an array or a map')
  }

  private writeMapHeader(size: number): void {
    if (size < 16) this.writeU8(0x80 + size)
    else if (size < 0x1_0000) {
      this.writeU8(0xde)
      this.writeU16(size)
    } else {
      this.writeU8(0xdf)
      this.writeU32(size)
    }
  }
}

class NetworkEncoder extends LocalEncoder {
  /** There is no str 8 in old MessagePack. */
  override writeStringHeader(size: number): void {
    if (size < 0x20 || size >= 0x100) {
      super.writeStringHeader(size)
    } else {
      this.writeU8(0xda)
      this.writeU16(size)
    }
  }

  /** Nor are there types for bytes. */
  override encodeBinary(bytes: ArrayBufferView): void {
    this.writeStringHeader(bytes.byteLength)
    this.writeU8a(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }
}
