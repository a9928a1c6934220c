/** Types of decoded values, and access to their members. */

export type Kind = 'null' | 'bool' | 'int' | 'float' | 'text' | 'bytes' | 'date' | 'list' | 'map' | 'other'

/** Return the type of a value in terms of Python. A boxed number is a float, whatever its value. */
export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int' : 'float'
  if (typeof value === 'string') return 'text'
  if (typeof value !== 'object') return 'other'
  return kindOfObject(value)
}

function kindOfObject(value: object): Kind {
  if (Array.isArray(value) || value instanceof Set) return 'list'
  if (value instanceof Map) return 'map'
  if (value instanceof Number) return 'float'
  if (value instanceof Uint8Array) return 'bytes'
  if (typeof (value as { text?: unknown }).text === 'string' && value.constructor.name === 'DateTime')
    return 'date'
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null ? 'map' : 'other'
}

export function listOf(value: unknown): unknown[] {
  return value instanceof Set ? [...value] : (value as unknown[])
}

/** Return the entries of a map in their own order. */
export function entriesOf(map: unknown): [unknown, unknown][] {
  return map instanceof Map ? [...map] : Object.entries(map as object)
}

/** Return the entries of a map sorted by key; unsorted if Python could not compare the keys. */
export function sortedEntriesOf(map: unknown): [unknown, unknown][] {
  const entries = entriesOf(map)
  return isSortable(entries) ? entries.sort(([a], [b]) => compare(a, b)) : entries
}

/** Whether Python can sort the entries: all keys are text, all are numbers, and so on. */
export function isSortable(entries: readonly [unknown, unknown][]): boolean {
  return entries.length < 2 || (new Set(entries.map(([key]) => orderOf(key))).size === 1 && !isNull(entries))
}

const isNull = ([first]: readonly [unknown, unknown][]): boolean => first?.[0] === null

/** Groups of types that can be compared with each other, in the order that `pprint` gives the groups. */
const ORDERS: Readonly<Partial<Record<Kind, number>>> = {
  null: 0,
  bool: 1,
  int: 1,
  float: 1,
  bytes: 2,
  date: 3,
}

export const orderOf = (key: unknown): number => ORDERS[kindOf(key)] ?? 4

/** Compare two keys of one group: numbers by value, texts by code points (not by UTF-16 units). */
export function compare(a: unknown, b: unknown): number {
  if (typeof a !== 'string' || typeof b !== 'string') return (a as number) < (b as number) ? -1 : 1
  for (let at = 0; at < a.length && at < b.length; at++) {
    if (a.charCodeAt(at) !== b.charCodeAt(at)) return codePointAround(a, at) - codePointAround(b, at)
  }
  return a.length - b.length
}

/** Return a unit for comparison. Surrogates belong to code points above all other units. */
function codePointAround(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** Count characters as Python does, in code points. */
export function lengthOf(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length - 1; at++) if ((text.codePointAt(at) as number) > 0xffff) length--
  return length
}

/** Split text into lines as Python's `splitlines` does: without an empty one at the end. */
export function linesOf(text: string): string[] {
  return linesWithEnds(text).map((line) => line.replace(LINE_END, ''))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: file, group and record separators end lines in Python
const LINE_END = /(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const AFTER_LINE_END = /(?<=\r(?!\n)|[\n\v\f\x1c-\x1e\x85\u2028\u2029])/

/** Split text into the same lines, each with its line end. */
export function linesWithEnds(text: string): string[] {
  return text.split(AFTER_LINE_END).filter((line) => line !== '')
}
