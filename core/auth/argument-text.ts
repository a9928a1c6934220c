import { isRecord } from '../base/record.ts'
import { Float } from '../dialect/float.ts'
import { floatText } from '../dialect/float-text.ts'
import { Typed } from '../loader/index.ts'

/** Return what an argument may be to the minion: a value may arrive with the text it was typed as. */
export const readingsOf = (value: unknown): readonly unknown[] =>
  value instanceof Typed ? [value.value, value.text] : [value]

/**
 * Return the text of an argument that regular expressions of the configuration are matched with: Python's `str` of it, so that
 * rules written for Salt match the same arguments.
 */
export function argumentText(value: unknown): string {
  return typeof value === 'string' ? value : literal(value)
}

/** Return Python's `repr`. */
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
  if (isRecord(value)) return map(Object.entries(value))
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
