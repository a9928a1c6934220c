import type { Value } from './values.ts'

/** Numbers left out before a key that still cost nothing to speak of. */
const smallGap = 8
const largestIndex = 0xffff_fffe

/** A plain object for the entries of a map, as long as it can hold them faithfully. */
export class PlainObject {
  readonly members: { [key: string]: Value } = {}
  private lastIndex = -1
  private hasName = false

  /** Whether the key can be the next: it is text, harmless, and will come out in its place. */
  accepts(key: Value): key is string {
    if (typeof key !== 'string' || key === '__proto__') return false
    if (isIndex(key)) return this.acceptsIndex(Number(key))
    this.hasName = true
    return true
  }

  /** JavaScript moves whole numbers to the front, in ascending order. */
  private acceptsIndex(index: number): boolean {
    if (this.hasName || index <= this.lastIndex) return false
    if (index - this.lastIndex > smallGap) keepSparse(this.members)
    this.lastIndex = index
    return true
  }
}

/** Whether JavaScript takes the key for a place in an array: a whole number below 2^32 - 1, written plainly. */
function isIndex(key: string): boolean {
  const first = key.charCodeAt(0)
  if (!(first >= 0x30 && first <= 0x39) || key.length > 10) return false
  const index = Number(key)
  return index <= largestIndex && String(index) === key
}

/**
 * V8 reserves a place for every number below a key like "1000", 12 kB for one entry of seven bytes on the wire.
 * Having held the largest number, the object goes over to a hash table.
 */
function keepSparse(members: { [key: string]: Value }): void {
  members[largestIndex] = null
  delete members[largestIndex]
}
