import { DateTime, Float } from '../../core/codec/values.ts'

/** The value that the notation of the golden data stands for (`{"$float": "1.5"}` …, see their README). */
export function fromNotation(noted: unknown): unknown {
  if (Array.isArray(noted)) return noted.map(fromNotation)
  if (typeof noted !== 'object' || noted === null) return noted
  const [[key, value] = ['', undefined], ...more] = Object.entries(noted)
  const special = more.length === 0 ? forms.get(key) : undefined
  if (special) return special(value)
  return Object.fromEntries(Object.entries(noted).map(([name, member]) => [name, fromNotation(member)]))
}

// biome-ignore lint/suspicious/noExplicitAny: each form knows the shape of its own value
const forms = new Map<string, (value: any) => unknown>([
  ['$float', floatOf],
  ['$int', (digits: string) => BigInt(digits)],
  ['$bytes_b64', (text: string) => Buffer.from(text, 'base64')],
  ['$bytes_hex', (text: string) => Buffer.from(text, 'hex')],
  ['$datetime', (text: string) => new DateTime(text)],
  ['$tuple', (members: unknown[]) => members.map(fromNotation)],
  [
    '$map',
    (pairs: [unknown, unknown][]) => new Map(pairs.map(([k, v]) => [fromNotation(k), fromNotation(v)])),
  ],
])

function floatOf(text: string): number | Float {
  const number = Number(text.replace('inf', 'Infinity'))
  return Number.isInteger(number) ? new Float(number) : number
}
