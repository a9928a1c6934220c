/** Values of jobs as readable JSON. Values that JSON does not have are written as `{"$bytes": "…"}`. */
import { DateTime, Float, NamedConstant } from '../codec/values.ts'

export function toJson(value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (typeof value === 'bigint') return { $integer: value.toString() }
  if (typeof value === 'number') return Number.isFinite(value) ? value : { $number: String(value) }
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(toJson)
  if (value instanceof Float) return toJson(value.valueOf())
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') }
  if (value instanceof Date) return { $time: DateTime.from(value).text }
  if (value instanceof DateTime) return { $time: value.text }
  if (value instanceof NamedConstant) return { $constant: value.name, value: toJson(value.value) }
  if (value instanceof Map) return { $map: [...value].map(([k, v]) => [toJson(k), toJson(v)]) }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toJson(member)]))
}

export function fromJson(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(fromJson)
  if (typeof json !== 'object' || json === null) return json
  const [key = '', text] = Object.entries(json)[0] ?? []
  const form = forms.get(key)
  if (form) return form(text, json)
  return Object.fromEntries(Object.entries(json).map(([name, member]) => [name, fromJson(member)]))
}

const forms: ReadonlyMap<string, (text: unknown, json: object) => unknown> = new Map<
  string,
  (text: unknown, json: object) => unknown
>([
  ['$integer', (text) => BigInt(String(text))],
  ['$number', (text) => Number(text)],
  ['$bytes', (text) => new Uint8Array(Buffer.from(String(text), 'base64'))],
  ['$time', (text) => new DateTime(String(text))],
  [
    '$constant',
    (text, json) => new NamedConstant(String(text), fromJson(Reflect.get(json, 'value')) as never),
  ],
  ['$map', (pairs) => new Map((pairs as unknown[][]).map(([k, v]) => [fromJson(k), fromJson(v)]))],
])
