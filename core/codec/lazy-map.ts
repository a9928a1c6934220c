import { decode } from './decoder.ts'
import { headerAt } from './header.ts'
import { textOf } from './text.ts'
import type { Value } from './values.ts'

interface Members {
  [key: string]: Value
}

/**
 * As `decode`, of what `encodeLocal` wrote, for whom a few of many members will do: each member of the outermost map is
 * decoded when it is looked at, all of them when they are listed. Such a map is a proxy: to be read, not to be passed on.
 * @throws SaltError DECODE_FAILED, for what is wrong inside a member when that is looked at.
 */
export function decodeLazily(bytes: Uint8Array): Value {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const places = placesOf(buffer)
  if (!places) return decode(buffer)
  return new Proxy<Members>({}, new LazyMembers(buffer, places))
}

/** Stands for a map, and holds what has been looked at of it. */
class LazyMembers implements ProxyHandler<Members> {
  readonly #bytes: Buffer
  readonly #places: Uint32Array
  #members: Members = {}
  #complete = false

  constructor(bytes: Buffer, places: Uint32Array) {
    this.#bytes = bytes
    this.#places = places
  }

  get(_: Members, key: string | symbol): unknown {
    this.#look(key)
    return Reflect.get(this.#members, key)
  }

  has(_: Members, key: string | symbol): boolean {
    this.#look(key)
    return Reflect.has(this.#members, key)
  }

  getOwnPropertyDescriptor(_: Members, key: string | symbol) {
    this.#look(key)
    return Reflect.getOwnPropertyDescriptor(this.#members, key)
  }

  ownKeys(): (string | symbol)[] {
    if (!this.#complete) this.#members = decode(this.#bytes) as Members
    this.#complete = true
    return Reflect.ownKeys(this.#members)
  }

  #look(key: string | symbol): void {
    if (this.#complete || typeof key === 'symbol' || Object.hasOwn(this.#members, key)) return
    const place = this.#find(key)
    if (place >= 0) this.#members[key] = decode(this.#bytes.subarray(place, endOf(this.#bytes, place)))
  }

  /** Where the value of a key begins; -1 if there is none. */
  #find(key: string): number {
    const size = Buffer.byteLength(key)
    const first = key.charCodeAt(0)
    const [bytes, places] = [this.#bytes, this.#places]
    for (let n = 0; n < places.length; n += 2) {
      const start = places[n]!
      const end = places[n + 1]!
      if (end - start === size && bytes[start] === first && textOf(bytes, start, end) === key) return end
    }
    return -1
  }
}

/**
 * Where the text of each key and its value begin, in turns. Undefined for what is no map, or one with a key that does not
 * begin with a letter: such a map may be no plain object.
 */
function placesOf(bytes: Buffer): Uint32Array | undefined {
  const header = isMap(bytes[0]) ? headerAt(bytes, 0, bytes.length) : undefined
  if (!header || header.elements > bytes.length) return undefined
  const places = new Uint32Array(header.elements)
  let at = header.size
  for (let n = 0; n < places.length; n += 2) {
    const key = at + textHeadSize(bytes[at])
    if (key === at || !isLetter(bytes[key])) return undefined
    places[n] = key
    at = endOf(bytes, at)
    places[n + 1] = at
    at = endOf(bytes, at)
  }
  return at === bytes.length ? places : undefined
}

/** Where the value that begins at `start` ends: beyond the bytes, if it is not whole. */
function endOf(bytes: Buffer, start: number): number {
  let at = start
  for (let owed = 1; owed > 0; owed--) {
    const head = bytes[at]
    if (isShortText(head)) {
      at += 1 + (head & 0x1f)
      continue // most of a map is short text
    }
    const header = headerAt(bytes, at, bytes.length)
    if (!header) return Number.POSITIVE_INFINITY
    at += header.size
    owed += header.elements
  }
  return at
}

const isMap = (head = 0): boolean => (head >= 0x80 && head < 0x90) || head === 0xde || head === 0xdf

const isShortText = (head: number | undefined): head is number =>
  head !== undefined && head >= 0xa0 && head < 0xc0

const isLetter = (byte = 0): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a

/** How many bytes stand before those of a text; 0 if it is none. */
function textHeadSize(head = 0): number {
  if (isShortText(head)) return 1
  return head >= 0xd9 && head <= 0xdb ? 1 + 2 ** (head - 0xd9) : 0
}
