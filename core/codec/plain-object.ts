import type { Value } from './values.ts'

/** Gap before an index, in elements, that V8 can fill at little cost. */
const smallGap = 8
const largestIndex = 0xffff_fffe

/** A plain object for the entries of a map, which accepts keys while it can keep them and their order. */
export class PlainObject {
  readonly members: { [key: string]: Value } = {}
  private lastIndex = -1
  private hasName = false

  /** Whether the key can be the next: it is text, is not `__proto__`, and JavaScript keeps it in its place. */
  accepts(key: Value): key is string {
    if (typeof key !== 'string' || key === '__proto__') return false
    if (isIndex(key)) return this.acceptsIndex(Number(key))
    this.hasName = true
    return true
  }

  /** JavaScript moves integer keys to the front, in ascending order. */
  private acceptsIndex(index: number): boolean {
    if (this.hasName || index <= this.lastIndex) return false
    if (index - this.lastIndex > smallGap) keepSparse(this.members)
    this.lastIndex = index
    return true
  }
}

/** Whether JavaScript treats the key as an array index: an integer below 2^32 - 1 in canonical decimal form. */
function isIndex(key: string): boolean {
  const first = key.charCodeAt(0)
  if (!(first >= 0x30 && first <= 0x39) || key.length > 10) return false
  const index = Number(key)
  return index <= largestIndex && String(index) === key
}

/**
 * Make V8 keep the members in a hash table, by adding and deleting the largest index. Otherwise it reserves an element for
 * every number below a key such as "1000": 12 kB for an entry of seven bytes on the wire.
 */
function keepSparse(members: { [key: string]: Value }): void {
  members[largestIndex] = null
  delete members[largestIndex]
}
