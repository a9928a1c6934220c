import { floatText } from '#internal'
import { isMapping } from './traverse.ts'
import { Tuple } from './tuple.ts'

/** Format a value as Python's `repr` does. */
export function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return quoted(value)
  if (value instanceof Number) return floatText(value.valueOf())
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return floatText(value)
  if (value instanceof Uint8Array) return `b${quoted(Buffer.from(value).toString('latin1'))}`
  if (value instanceof Tuple) return pythonTuple(value)
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`
  if (!isMapping(value)) return String(value)
  const pairs = value instanceof Map ? [...value] : Object.entries(value)
  return `{${pairs.map(([key, inner]) => `${pythonRepr(key)}: ${pythonRepr(inner)}`).join(', ')}}`
}

/** Format a value as Python's `str` does: as `pythonRepr`, but text stays as it is. */
export const pythonText = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))

/** Format a tuple as Python's `repr` does: `(1, 2)`, `(1,)`, `()`. */
export function pythonTuple(values: readonly unknown[]): string {
  const items = values.map(pythonRepr).join(', ')
  return values.length === 1 ? `(${items},)` : `(${items})`
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replaceAll(/[\\\n\r\t]/g, (c) => escapes[c] as string).replaceAll(control, hex)
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote
}

const control = /[\p{Cc}]/gu
const hex = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** Format the type of a value as Python does: `<class 'int'>`. */
export function pythonType(value: unknown): string {
  return `<class '${typeName(value)}'>`
}

/** Return what Python calls the type of a value: `int`. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'NoneType'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'str'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  if (typeof value === 'bigint') return 'int'
  if (value instanceof Number) return 'float'
  if (value instanceof Uint8Array) return 'bytes'
  return Array.isArray(value) ? 'list' : 'dict'
}
