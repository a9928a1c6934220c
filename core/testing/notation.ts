/** Values of jobs as JSON that people can read; what JSON does not have is written `{"$bytes": "…"}`. */
import { DateTime, Float, NamedConstant } from '../codec/values.ts'

export function toNotation(value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (typeof value === 'bigint') return { $integer: value.toString() }
  if (typeof value === 'number') return Number.isFinite(value) ? value : { $number: String(value) }
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(toNotation)
  if (value instanceof Float) return toNotation(value.valueOf())
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') }
  if (value instanceof Date) return { $time: DateTime.from(value).text }
  if (value instanceof DateTime) return { $time: value.text }
  if (value instanceof NamedConstant) return { $constant: value.name, value: toNotation(value.value) }
  if (value instanceof Map) return { $map: [...value].map(([k, v]) => [toNotation(k), toNotation(v)]) }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toNotation(member)]))
}

export function fromNotation(noted: unknown): unknown {
  if (Array.isArray(noted)) return noted.map(fromNotation)
  if (typeof noted !== 'object' || noted === null) return noted
  const [key = '', text] = Object.entries(noted)[0] ?? []
  const form = forms.get(key)
  if (form) return form(text, noted)
  return Object.fromEntries(Object.entries(noted).map(([name, member]) => [name, fromNotation(member)]))
}

const forms: ReadonlyMap<string, (text: unknown, noted: object) => unknown> = new Map<
  string,
  (text: unknown, noted: object) => unknown
>([
  ['$integer', (text) => BigInt(String(text))],
  ['$number', (text) => Number(text)],
  ['$bytes', (text) => new Uint8Array(Buffer.from(String(text), 'base64'))],
  ['$time', (text) => new DateTime(String(text))],
  [
    '$constant',
    (text, noted) => new NamedConstant(String(text), fromNotation(Reflect.get(noted, 'value')) as never),
  ],
  ['$map', (pairs) => new Map((pairs as unknown[][]).map(([k, v]) => [fromNotation(k), fromNotation(v)]))],
])
