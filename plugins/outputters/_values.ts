/** What outputters need to know of a decoded value. */

export type Kind = 'null' | 'bool' | 'int' | 'float' | 'text' | 'bytes' | 'list' | 'map' | 'other'

/** The kind a value has for a reader of another language. A boxed number is a float, whatever its value. */
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
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null ? 'map' : 'other'
}

export function listOf(value: unknown): unknown[] {
  return value instanceof Set ? [...value] : (value as unknown[])
}

/** The members of a map, in their own order. */
export function entriesOf(map: unknown): [unknown, unknown][] {
  return map instanceof Map ? [...map] : Object.entries(map as object)
}

/** The members of a map by key; keys that cannot be compared with each other stay as they are. */
export function sortedEntriesOf(map: unknown): [unknown, unknown][] {
  const entries = entriesOf(map)
  const kinds = new Set(entries.map(([key]) => (typeof key === 'bigint' ? 'number' : typeof key)))
  return kinds.size === 1 ? entries.sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1)) : entries
}

/** Lines as Python's `splitlines` sees them: no empty one at the end. */
export function linesOf(text: string): string[] {
  return linesWithEnds(text).map((line) => line.replace(LINE_END, ''))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: file, group and record separators end lines in Python
const LINE_END = /(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const AFTER_LINE_END = /(?<=\r(?!\n)|[\n\v\f\x1c-\x1e\x85\u2028\u2029])/

/** The same lines, each with its end. */
export function linesWithEnds(text: string): string[] {
  return text.split(AFTER_LINE_END).filter((line) => line !== '')
}
