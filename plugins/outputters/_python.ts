/** Values as Python writes them, with `str` and `repr`. */
import { floatText } from '#internal'
import { compare, entriesOf, kindOf, listOf, orderOf } from './_values.ts'

/** Return text as it is, a date in readable form, and any other value as its `repr`. */
export function strOf(value: unknown): string {
  if (typeof value === 'string') return value
  return kindOf(value) === 'date' ? dateText(value) : reprOf(value)
}

/** White space as Python defines it, for character classes; it includes the file, group, record and unit separators. */
export const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const LEADING = new RegExp(`^[${SPACE}]+`)
const TRAILING = new RegExp(`(?<![${SPACE}])[${SPACE}]+$`)

/** Remove trailing white space, as Salt does. */
export const rstrip = (text: string): string => text.replace(TRAILING, '')

export const strip = (text: string): string => rstrip(text).replace(LEADING, '')

/** Return the entries of a map in the order of `pprint`, which can compare any two keys. */
export function safelySorted(map: unknown): [unknown, unknown][] {
  return entriesOf(map).sort(([a], [b]) => orderOf(a) - orderOf(b) || compare(a, b))
}

/** Return Python's `repr` of a value. With `sorted`, maps are in the order of `pprint`. */
export function reprOf(value: unknown, sorted = false): string {
  const kind = kindOf(value)
  if (kind === 'null') return 'None'
  if (kind === 'bool') return value ? 'True' : 'False'
  if (kind === 'float') return floatText(Number(value))
  if (kind === 'text') return quoted(value as string)
  if (kind === 'bytes') return `b${quotedBytes(value as Uint8Array)}`
  if (kind === 'date') return dateRepr(value)
  if (kind === 'list')
    return `[${listOf(value)
      .map((member) => reprOf(member, sorted))
      .join(', ')}]`
  if (kind === 'map')
    return `{${(sorted ? safelySorted : entriesOf)(value)
      .map((e) => pair(e, sorted))
      .join(', ')}}`
  return String(value)
}

function pair([key, value]: [unknown, unknown], sorted: boolean): string {
  return `${reprOf(key, sorted)}: ${reprOf(value, sorted)}`
}

/** Return `2020-01-02 03:04:05.000006`; the fraction is left out if it is zero. */
export function dateText(value: unknown): string {
  return String(value)
    .replace('T', ' ')
    .replace(/\.000000$/, '')
}

/** Return the `repr` of a date. Trailing seconds and microseconds are left out while they are 0. */
function dateRepr(value: unknown): string {
  const fields = String(value).split(/\D/).map(Number)
  const shown = fields[6] === 0 ? fields.slice(0, fields[5] === 0 ? 5 : 6) : fields
  return `datetime.datetime(${shown.join(', ')})`
}

/** Format a number with fixed decimals; a tie is rounded to the even digit. */
export function fixed(value: number, decimals: number): string {
  const near = value.toFixed(decimals)
  const finer = value.toFixed(decimals + 1)
  const isTie =
    finer.endsWith('5') &&
    value.toFixed(60).slice(0, finer.length) === finer &&
    /^0*$/.test(value.toFixed(60).slice(finer.length))
  if (!isTie || '02468'.includes(near.at(-1) as string)) return near
  return finer.slice(0, -1)
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replace(/[\\'\p{C}\p{Z}]/gu, (c) =>
    c === ' ' ? c : (ESCAPES[c] ?? escapeOf(c, quote)),
  )
  return quote + escaped + quote
}

function escapeOf(character: string, quote: string): string {
  if (character === "'") return quote === "'" ? "\\'" : character
  const code = character.codePointAt(0) as number
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
  return code <= 0xffff
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\U${code.toString(16).padStart(8, '0')}`
}

function quotedBytes(bytes: Uint8Array): string {
  return quoted(Buffer.from(bytes).toString('latin1')).replace(
    /[\xa1-\xff]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16)}`,
  )
}
