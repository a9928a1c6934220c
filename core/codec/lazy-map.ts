import { decode } from './decoder.ts'
import { headerAt } from './header.ts'
import { textOf } from './text.ts'
import type { Value } from './values.ts'

interface Members {
  [key: string]: Value
}

/**
 * Decode the output of `encodeLocal` for callers that need few of many members: a member of the outermost map is decoded
 * when it is read, and all of them when they are listed. The map is a proxy: read it, but do not pass it on.
 * @throws SaltError DECODE_FAILED; for a malformed member when that is read
 */
export function decodeLazily(bytes: Uint8Array): Value {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const places = placesOf(buffer)
  if (!places) return decode(buffer)
  return new Proxy<Members>({}, new LazyMembers(buffer, places))
}

/** The handler of the proxy, with the members decoded so far. */
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
    this.#decodeMember(key)
    return Reflect.get(this.#members, key)
  }

  has(_: Members, key: string | symbol): boolean {
    this.#decodeMember(key)
    return Reflect.has(this.#members, key)
  }

  getOwnPropertyDescriptor(_: Members, key: string | symbol) {
    this.#decodeMember(key)
    return Reflect.getOwnPropertyDescriptor(this.#members, key)
  }

  ownKeys(): (string | symbol)[] {
    if (!this.#complete) this.#members = decode(this.#bytes) as Members
    this.#complete = true
    return Reflect.ownKeys(this.#members)
  }

  #decodeMember(key: string | symbol): void {
    if (this.#complete || typeof key === 'symbol' || Object.hasOwn(this.#members, key)) return
    const place = this.#find(key)
    if (place >= 0) this.#members[key] = decode(this.#bytes.subarray(place, endOf(this.#bytes, place)))
  }

  /** Return where the value of a key begins; -1 if there is none. */
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
 * Return the positions of each key's text and of its value, alternating. Undefined if the message is not a map, or if a key
 * does not begin with a letter: a plain object may be unable to hold such a map.
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

/** Return where the value that begins at `start` ends. Beyond the end of the bytes if the value is incomplete. */
function endOf(bytes: Buffer, start: number): number {
  let at = start
  for (let owed = 1; owed > 0; owed--) {
    const head = bytes[at]
    if (isShortText(head)) {
      at += 1 + (head & 0x1f)
      continue // a shortcut, since most keys and values are short text
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

/** Return the size of the header of a text, in bytes; 0 if the value is not text. */
function textHeadSize(head = 0): number {
  if (isShortText(head)) return 1
  return head >= 0xd9 && head <= 0xdb ? 1 + 2 ** (head - 0xd9) : 0
}
