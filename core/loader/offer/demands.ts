/** Requirements of schemas as ends of sentences: `must have at least 2 characters`. */
import type { JsonSchema } from '../../author/params.ts'
import { counted } from '../../base/sentence.ts'

type Demand = (limit: unknown) => string

const least =
  (noun: string): Demand =>
  (limit) =>
    `must have at least ${counted(Number(limit), noun)}`
const most =
  (noun: string): Demand =>
  (limit) =>
    `must have at most ${counted(Number(limit), noun)}`

const formats: ReadonlyMap<string, string> = new Map([
  ['date', 'a date such as 2026-01-31'],
  ['date-time', 'a date and time such as 2026-01-31T12:00:00Z'],
  ['hostname', 'a host name'],
  ['ipv4', 'an IPv4 address'],
  ['ipv6', 'an IPv6 address'],
  ['regex', 'a regular expression'],
  ['uri', 'a URI such as https://example.com/'],
])

/** Requirements by keyword: all that `p.*` can make, except types. */
const demands: Readonly<Record<string, Demand>> = {
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMinimum: (limit) => `must be greater than ${limit}`,
  exclusiveMaximum: (limit) => `must be less than ${limit}`,
  multipleOf: (limit) => `must be a multiple of ${limit}`,
  minLength: least('character'),
  maxLength: most('character'),
  minItems: least('item'),
  maxItems: most('item'),
  uniqueItems: () => 'must not have the same item twice',
  minProperties: least('key'),
  maxProperties: most('key'),
  pattern: (pattern) => `must match the pattern ${pattern}`,
  format: (format) => `must be ${formats.get(String(format)) ?? format}`,
  enum: (words) => `must be ${oneOf(words as readonly unknown[])}`,
  const: (only) => `must be ${shownValue(only)}`,
  required: (key) => `must have the key ${shownValue(key)}`,
  additionalProperties: (key) => `must not have the key ${shownValue(key)}`,
  exactInteger: () => `must be ${EXACT_INTEGER}`,
}

/** Return the requirement of a schema's keyword; `limit` is its value, or the missing or unknown key. */
export const demandOf = (keyword: string, limit: unknown): string =>
  demands[keyword]?.(limit) ?? `must match its schema (${keyword})`

/** The integers that a JavaScript number represents exactly. */
const EXACT_INTEGER = `an integer from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`

/** Return the requirement of a type: `must be a number or an array`; for an enum its members are listed. */
export function typeDemand(schemas: readonly JsonSchema[], value: unknown): string {
  const flat = schemas.flatMap(membersOf)
  const words = flat.flatMap(({ enum: list, const: only }) =>
    Array.isArray(list) ? list : only === undefined ? [] : [only],
  )
  const types = flat.flatMap((schema) =>
    schema.enum === undefined && schema.const === undefined ? typesOf(schema) : [],
  )
  const named = [...new Set(types)].map((type) => article(type, value))
  const all = words.length > 0 ? [...named, oneOf(words)] : named
  return `must be ${all.length > 0 ? all.join(' or ') : 'one of the accepted forms'}`
}

const membersOf = (schema: JsonSchema): JsonSchema[] =>
  Array.isArray(schema.anyOf) ? schema.anyOf.flatMap(membersOf) : [schema]

const typesOf = ({ type }: JsonSchema) => [type ?? []].flat().filter((one) => typeof one === 'string')

function article(type: string, value: unknown): string {
  if (type === 'null') return type
  if (type === 'integer' && isInexact(value)) return EXACT_INTEGER
  return `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`
}

const isInexact = (value: unknown) => isInteger(value) && !Number.isSafeInteger(Number(value))
const isInteger = (value: unknown) => typeof value === 'bigint' || Number.isInteger(value)

const oneOf = (words: readonly unknown[]) =>
  words.length === 1 ? shownValue(words[0]) : `one of ${words.map(shownValue).join(', ')}`

/** Return a value for a message, as JSON of at most 60 characters. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item))
  const shown = typeof value === 'bigint' ? String(value) : (text ?? 'undefined')
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown
}
