import { ExtData } from '@msgpack/msgpack'
import { messageOf } from '../base/errors.ts'
import { Encoded } from './encoded.ts'
import { extensions } from './extensions.ts'
import { isContainer } from './header.ts'
import { representationOf } from './representation.ts'
import { MAX_DEPTH, unencodable, whyUnencodable } from './unencodable.ts'
import { DateTime, NamedConstant } from './values.ts'
import { Writer } from './writer.ts'

/**
 * Encode in the network dialect (wire protocol §1): text and bytes share the raw family of old MessagePack.
 * Map and Set are written as map and array, Date as a date-time (nil if it is invalid); undefined members of maps
 * are left out; integers beyond 64 bits become decimal text. Objects of classes are written as `representationOf` says.
 * @throws SaltError ENCODE_FAILED, with the place, for a value that cannot be encoded: a function, a cycle, a promise, more
 *   than 128 levels
 */
export function encodeNetwork(value: unknown): Buffer {
  return network.encode(value)
}

/** Encode in the local dialect: modern MessagePack, which distinguishes text and bytes. Otherwise as `encodeNetwork`. */
export function encodeLocal(value: unknown): Buffer {
  return local.encode(value)
}

/** Encode as `encodeNetwork` does, in parts: each large `Encoded` value, and large bytes, are a separate part and are not copied. */
export function encodeNetworkParts(value: unknown): Uint8Array[] {
  return network.encodeParts(value)
}

/** Return the header that `encodeNetwork` writes before this number of bytes. */
export function networkBytesHead(size: number): Buffer {
  const writer = new Writer(true)
  writer.binaryHead(size)
  return writer.take()
}

/** Encode as `encodeLocal` does, in parts. */
export function encodeLocalParts(value: unknown): Uint8Array[] {
  return local.encodeParts(value)
}

class Dialect {
  readonly #old: boolean
  #idle: Writer | undefined

  constructor(old: boolean) {
    this.#old = old
  }

  encode(value: unknown): Buffer {
    return this.#written(value)
  }

  encodeParts(value: unknown): Uint8Array[] {
    const parts: Uint8Array[] = []
    parts.push(this.#written(value, parts))
    return parts
  }

  /** Encode with the idle writer, or with a new one if a getter in `value` encodes in turn. */
  #written(value: unknown, parts?: Uint8Array[]): Buffer {
    const writer = this.#idle ?? new Writer(this.#old)
    this.#idle = undefined
    writer.begin(parts)
    try {
      write(writer, value, 1)
      return writer.take()
    } catch (thrown) {
      throw unencodable(whyUnencodable(value, 'value') ?? messageOf(thrown), thrown)
    } finally {
      writer.begin()
      this.#idle = writer
    }
  }
}

const network = new Dialect(true)
const local = new Dialect(false)

/** Write a value. `depth` is its level, if it is an array or a map. */
function write(to: Writer, value: unknown, depth: number): void {
  if (typeof value === 'string') to.text(value)
  else if (typeof value === 'number') to.number(value)
  else if (value === null || value === undefined) to.nil()
  else if (typeof value === 'object') writeObject(to, value, depth)
  else if (typeof value === 'boolean') to.boolean(value)
  else if (typeof value === 'bigint') writeInteger(to, value)
  else throw new TypeError(`it is a ${typeof value}`)
}

function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new TypeError(`it is over ${MAX_DEPTH} levels deep`)
}

function writeInteger(to: Writer, value: bigint): void {
  if (Number.isSafeInteger(Number(value))) to.number(Number(value))
  else if (value >= -(2n ** 63n) && value < 2n ** 64n) to.integer64(value)
  else to.text(String(value))
}

function writeObject(to: Writer, object: object, depth: number): void {
  if (Array.isArray(object)) writeArray(to, object, depth)
  else if (object instanceof Map) writeEntries(to, object, depth)
  else if (object instanceof Number) to.float(object.valueOf())
  else if (object instanceof Set) writeArray(to, [...object], depth)
  else if (object instanceof Date) writeDate(to, object)
  else if (isExtended(object)) writeExtension(to, object)
  else if (object instanceof Encoded) to.encoded(object.bytes)
  else writeByForm(to, object, depth)
}

function writeByForm(to: Writer, object: object, depth: number): void {
  const form = representationOf(object)
  if (form !== object) writeForm(to, form, depth)
  else if (ArrayBuffer.isView(object)) to.binary(object)
  else writeMembers(to, object as Record<string, unknown>, depth)
}

/** Write what represents an object. That may be represented in turn, without end. */
function writeForm(to: Writer, form: unknown, depth: number): void {
  checkDepth(depth)
  write(to, form, depth + 1)
}

function writeArray(to: Writer, array: readonly unknown[], depth: number): void {
  checkDepth(depth)
  to.arrayHead(array.length)
  for (let n = 0; n < array.length; n++) write(to, array[n], depth + 1)
}

function writeMembers(to: Writer, members: Record<string, unknown>, depth: number): void {
  checkDepth(depth)
  const keys = Object.keys(members)
  let size = 0
  for (const key of keys) if (members[key] !== undefined) size++
  to.mapHead(size)
  for (const key of keys) {
    const value = members[key]
    if (value === undefined) continue
    to.text(key)
    write(to, value, depth + 1)
  }
}

function writeEntries(to: Writer, map: Map<unknown, unknown>, depth: number): void {
  checkDepth(depth)
  const entries = [...map].filter(([, value]) => value !== undefined)
  to.mapHead(entries.length)
  for (const [key, value] of entries) {
    const start = to.position
    write(to, key, depth + 1)
    // Peers refuse a message with such a key.
    if (isContainer(to.byteAt(start))) throw new TypeError('a key of a map is an array or a map')
    write(to, value, depth + 1)
  }
}

/** Write a date; nil for years that Python does not support (not 1 to 9999), because peers would refuse the message. */
function writeDate(to: Writer, date: Date): void {
  const year = date.getUTCFullYear()
  if (year >= 1 && year <= 9999) writeExtension(to, DateTime.from(date))
  else to.nil()
}

/** Whether an object is written as an extension: Salt's two, or any other in the library's form. */
const isExtended = (object: object): object is DateTime | NamedConstant | ExtData =>
  object instanceof DateTime || object instanceof NamedConstant || object instanceof ExtData

function writeExtension(to: Writer, value: DateTime | NamedConstant | ExtData): void {
  const { type, data } = extensions.tryToEncode(value, encodeLocal) as ExtData
  to.extension(type, typeof data === 'function' ? data(to.position) : data)
}
