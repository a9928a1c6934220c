import { Float } from '../base/float.ts'
import { floatText } from '../base/float-text.ts'

/**
 * The text of an argument that a regular expression of the configuration is held against: as Python's `str` gives it, so
 * that rules written for Salt mean the same here.
 */
export function argumentText(value: unknown): string {
  return typeof value === 'string' ? value : literal(value)
}

/** Python's `repr`. */
function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : floatText(value)
  if (value instanceof Float) return floatText(Number(value))
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (value instanceof Uint8Array) return `b${quoted(Buffer.from(value).toString('latin1'))}`
  if (value instanceof Map) return map([...value])
  if (Object.getPrototypeOf(value) === Object.prototype) return map(Object.entries(value))
  return String(value)
}

const map = (entries: readonly (readonly [unknown, unknown])[]): string =>
  `{${entries.map(([key, value]) => `${literal(key)}: ${literal(value)}`).join(', ')}}`

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character)
  return `${quote}${quote === "'" ? escaped.replaceAll("'", "\\'") : escaped}${quote}`
}
