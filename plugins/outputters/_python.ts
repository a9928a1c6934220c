/** Values as Python writes them: `str` and `repr`. */
import { entriesOf, kindOf, listOf, sortedEntriesOf } from './_values.ts'

/** Text as it is, anything else as `repr`. */
export function strOf(value: unknown): string {
  return typeof value === 'string' ? value : reprOf(value)
}

/** `sorted` puts maps in the order of their keys, as `pprint` does. */
export function reprOf(value: unknown, sorted = false): string {
  const kind = kindOf(value)
  if (kind === 'null') return 'None'
  if (kind === 'bool') return value ? 'True' : 'False'
  if (kind === 'float') return floatText(Number(value))
  if (kind === 'text') return quoted(value as string)
  if (kind === 'bytes') return `b${quotedBytes(value as Uint8Array)}`
  if (kind === 'list')
    return `[${listOf(value)
      .map((member) => reprOf(member, sorted))
      .join(', ')}]`
  if (kind === 'map')
    return `{${(sorted ? sortedEntriesOf : entriesOf)(value)
      .map((e) => pair(e, sorted))
      .join(', ')}}`
  return String(value)
}

function pair([key, value]: [unknown, unknown], sorted: boolean): string {
  return `${reprOf(key, sorted)}: ${reprOf(value, sorted)}`
}

/** The shortest text that gives the same float, `1.0` and `1e+22` style. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  const [mantissa = '', power = '0'] = value.toExponential().split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16)
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits(Math.abs(exponent))}`
  const sign = Object.is(value, -0) ? '-' : ''
  return sign + (Number.isInteger(value) ? value.toFixed(1) : plainDecimal(value, exponent))
}

const digits = (exponent: number): string => String(exponent).padStart(2, '0')

function plainDecimal(value: number, exponent: number): string {
  return exponent < -6 ? value.toFixed(20) : String(value)
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
