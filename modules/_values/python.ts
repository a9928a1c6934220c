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
  if (value instanceof Uint8Array)
    return `b${quoted(Buffer.from(value).toString('latin1')).replaceAll(/[^\0-\x7f]/g, hex)}`
  if (value instanceof Tuple) return pythonTuple(value)
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`
  if (!isMapping(value)) return String(value)
  const pairs = value instanceof Map ? [...value] : Object.entries(value)
  return `{${pairs.map(([key, inner]) => `${pythonRepr(key)}: ${pythonRepr(inner)}`).join(', ')}}`
}

/** Format a value as Python's `ascii` does. */
export const pythonAscii = (value: unknown): string => pythonRepr(value).replaceAll(/[^\0-\x7f]/gu, hex)

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

/** What Python does not print as it is: control characters, and white space other than the space. */
const control = /(?! )[\p{C}\p{Z}]/gu

function hex(character: string): string {
  const digits = (character.codePointAt(0) as number).toString(16)
  if (digits.length <= 2) return `\\x${digits.padStart(2, '0')}`
  return digits.length <= 4 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
}

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
