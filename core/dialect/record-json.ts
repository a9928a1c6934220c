/** Lossless conversion between values and JSON for external stores. */
import { isRecord } from '../base/record.ts'
import { Float } from './float.ts'
import { jsonText } from './json.ts'
import { losesPrecision, TOKENS } from './json-numbers.ts'

/** Keys that, as the only key of a map, mark a value that JSON does not have. */
const BYTES = '__bytes__'
const TEXT = '__text__'
const FLOAT = '__float__'
const MAP = '__map__'
/** Marks, while reading only, a number that `JSON.parse` does not read exactly. */
const NUMBER = '__number__'
const MARKS = new Set([BYTES, TEXT, FLOAT, MAP, NUMBER])

/**
 * Return a value as JSON that dashboards for Salt's tables can read: maps, lists, texts and numbers are plain JSON. A value
 * that JSON does not have becomes a map with one key: bytes `{"__bytes__": base64}`; text with NUL, which many stores
 * refuse, `{"__text__": base64}`; `{"__float__": "NaN"}`. A map that looks like one of these becomes
 * `{"__map__": [[key, value]]}`.
 */
export const recordJson = (value: unknown): string => jsonText(isJson(value) ? value : marked(value))

/**
 * Return the value of such JSON: 3.0 stays a float, integers beyond 2^53 are bigint. Throws SyntaxError for malformed
 * JSON.
 */
export const fromRecordJson = (text: string): unknown => unmarked(JSON.parse(withMarkedNumbers(text)))

/** Whether a value needs no marks. Most need none, and are not copied. */
function isJson(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0')
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isJson)
  if (!isRecord(value)) return value === null || typeof value !== 'object'
  const keys = Object.keys(value)
  if (keys.length === 1 && MARKS.has(keys[0] ?? '')) return false
  return keys.every((key) => isJson(value[key]))
}

function marked(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? { [TEXT]: base64(Buffer.from(value)) } : value
  if (typeof value === 'number' && !Number.isFinite(value)) return { [FLOAT]: String(value) }
  if (value instanceof Uint8Array) return { [BYTES]: base64(value) }
  if (Array.isArray(value)) return value.map(marked)
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [key, marked(member)]))
  if (!isRecord(value)) return value
  const only = onlyKey(value)
  return only !== undefined && MARKS.has(only)
    ? { [MAP]: [[only, marked(value[only])]] }
    : mapped(value, marked)
}

function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isRecord(value)) return value
  const only = onlyKey(value)
  const inner = only === undefined ? undefined : value[only]
  if (typeof inner === 'string') {
    if (only === BYTES) return new Uint8Array(Buffer.from(inner, 'base64'))
    if (only === TEXT) return Buffer.from(inner, 'base64').toString()
    if (only === FLOAT) return Number(inner)
    if (only === NUMBER) return /^-?[1-9]\d*$/.test(inner) ? BigInt(inner) : new Float(inner)
  }
  if (only === MAP && Array.isArray(inner))
    return Object.fromEntries(inner.map(([key, member]) => [key, unmarked(member)]))
  return mapped(value, unmarked)
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

const withMarkedNumbers = (text: string): string =>
  text.replace(TOKENS, (token) => (losesPrecision(token) ? `{"${NUMBER}":"${token}"}` : token))

type Plain = Readonly<Record<string, unknown>>

function onlyKey(value: Plain): string | undefined {
  const [only, ...others] = Object.keys(value)
  return others.length === 0 ? only : undefined
}

/** Map the members of an object; `Object.fromEntries` keeps a key named `__proto__`. */
const mapped = (value: Plain, change: (member: unknown) => unknown): Plain =>
  Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]))
