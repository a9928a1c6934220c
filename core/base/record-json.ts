/** Values as JSON for stores outside, and back without loss. */
import { Float } from './float.ts'
import { jsonText } from './json.ts'
import { losesByParsing, TOKENS } from './json-numbers.ts'

/** Each, as the only key of a map, stands for what JSON does not have. */
const BYTES = '__bytes__'
const TEXT = '__text__'
const FLOAT = '__float__'
const MAP = '__map__'
/** While it is read: a number of which JSON.parse would lose digits or kind. */
const NUMBER = '__number__'
const MARKS = new Set([BYTES, TEXT, FLOAT, MAP, NUMBER])

/**
 * JSON as the dashboards of Salt's tables read it: maps, lists, texts and numbers as they are. What JSON does not have is a
 * map with one key: bytes `{"__bytes__": base64}`, text with NUL, which many stores do not take, `{"__text__": base64}`,
 * `{"__float__": "NaN"}`; a map that would be taken for one of these `{"__map__": [[key, value]]}`.
 */
export const recordJson = (value: unknown): string => jsonText(isJson(value) ? value : marked(value))

/** The value again: 3.0 stays a float, integers beyond 2^53 are bigint. Throws SyntaxError for what is not JSON. */
export const fromRecordJson = (text: string): unknown => unmarked(JSON.parse(withMarkedNumbers(text)))

/** Nothing of it needs a mark. Most values are like that, and are not copied. */
function isJson(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0')
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isJson)
  if (!isPlain(value)) return value === null || typeof value !== 'object'
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
  if (!isPlain(value)) return value
  const only = onlyKey(value)
  return only !== undefined && MARKS.has(only)
    ? { [MAP]: [[only, marked(value[only])]] }
    : mapped(value, marked)
}

function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isPlain(value)) return value
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
  text.replace(TOKENS, (token) => (losesByParsing(token) ? `{"${NUMBER}":"${token}"}` : token))

type Plain = Readonly<Record<string, unknown>>

function onlyKey(value: Plain): string | undefined {
  const [only, ...others] = Object.keys(value)
  return others.length === 0 ? only : undefined
}

/** Keys of any name, `__proto__` too. */
const mapped = (value: Plain, change: (member: unknown) => unknown): Plain =>
  Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]))

function isPlain(value: unknown): value is Plain {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
