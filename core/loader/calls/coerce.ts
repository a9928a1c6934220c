import { hasType } from '../../author/has-type.ts'
import type { JsonSchema } from '../../author/params.ts'
import { isRecord } from '../../base/record.ts'
import { floatText } from '../../dialect/float-text.ts'
import { Typed, untyped } from './typed.ts'
import { type Part, parseParts } from './word-yaml.ts'

/**
 * Convert a value to the type that a parameter declares: `5` becomes the text `"5"`, `yes` the boolean true, `a,b` a list of
 * two. A value that cannot be converted is returned unchanged, for validation to refuse; so is one without a declared
 * type. The result is never a `Typed` value.
 */
export function coerce(value: unknown, schema: JsonSchema): unknown {
  if (Array.isArray(schema.anyOf)) return coerceToAny(value, schema.anyOf as JsonSchema[])
  return value instanceof Typed ? coerceTyped(value, schema) : coercePlain(value, schema)
}

/** Return a default value as a copy for one call, with the defaults that the schema declares inside it. */
export const filledDefault = (fallback: unknown, schema: JsonSchema): unknown =>
  coerce(structuredClone(fallback), schema)

/**
 * Convert a typed word. Text, also inside a list or map, stays as it was typed; all other values are read as Salt does.
 */
function coerceTyped({ value, text }: Typed, schema: JsonSchema): unknown {
  switch (schema.type) {
    case 'string':
      return Array.isArray(schema.enum) && !schema.enum.includes(text) ? toMember(value, schema.enum) : text
    case 'array':
      if (Array.isArray(value)) return coercePlain(members(text) ?? value, schema)
      return coercePlain([new Typed(value, text)], schema)
    case 'object':
      return coercePlain(value === null || Array.isArray(value) ? value : (entries(text) ?? value), schema)
    default:
      return coercePlain(value, schema)
  }
}

const members = (text: string): unknown[] | undefined => partsOf(text)?.map(fromPart)

/** Read a map, with its keys as they were typed. */
function entries(text: string): Map<unknown, unknown> | undefined {
  const parts = partsOf(text)
  if (!parts) return undefined
  const pairs = parts.flatMap((key, index) => {
    const value = parts[index + 1]
    return index % 2 === 0 && value ? [[key.text ?? key.value, fromPart(value)] as const] : []
  })
  return new Map(pairs)
}

const fromPart = ({ value, text }: Part): unknown =>
  text === undefined || typeof value === 'string' ? value : new Typed(value, text)

/** Return the members of a list or map in brackets; undefined for other words. */
function partsOf(text: string): Part[] | undefined {
  try {
    const parts = parseParts(text)
    return /^\s*[[{]/.test(text) ? parts : undefined
  } catch {
    return undefined
  }
}

function coercePlain(value: unknown, schema: JsonSchema): unknown {
  switch (schema.type) {
    case 'string':
      if (value instanceof Uint8Array && schema.contentEncoding === 'base64') return base64(value)
      return Array.isArray(schema.enum) ? toMember(value, schema.enum) : toText(value)
    case 'number':
      return toNumber(value)
    case 'integer':
      return toInteger(value)
    case 'boolean':
      return toBoolean(value)
    case 'array':
      return toArray(value, (schema.items ?? {}) as JsonSchema)
    case 'object':
      return toObject(value, schema)
    default:
      return value
  }
}

/** Convert to the member of a union that the value already has the type of, or else to the first possible one. */
function coerceToAny(value: unknown, members: readonly JsonSchema[]): unknown {
  const plain = untyped(value)
  const shape = Array.isArray(plain) ? 'array' : typeof plain === 'object' ? 'object' : undefined
  const alike = members.filter(({ type }) => shape !== undefined && type === shape)
  const own =
    members.find((member) => hasType(plain, member)) ??
    [...alike, ...members].find((member) => hasType(coerce(value, member), member))
  return own ? coerce(value, own) : plain
}

/** Return bytes in base64. */
export const base64 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString('base64')

function toText(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  if (value instanceof Number) return floatText(value.valueOf())
  return value
}

const words = { true: ['true', 'yes', 'on', '1'], false: ['false', 'no', 'off', '0'] }

/** Return the member of an enum for a value; YAML reads words such as `yes` as booleans. */
function toMember(value: unknown, members: readonly unknown[]): unknown {
  if (typeof value !== 'boolean') return toText(value)
  return members.find((member) => words[`${value}`].includes(String(member).toLowerCase())) ?? toText(value)
}

function toNumber(value: unknown): unknown {
  if (value instanceof Number) return value.valueOf()
  if (typeof value === 'bigint') return Number(value)
  const numeric = typeof value === 'string' && /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(value)
  return numeric ? Number(value) : value
}

/** Convert to an integer. One that a number cannot represent exactly is not converted, for validation to refuse. */
function toInteger(value: unknown): unknown {
  const number = toNumber(value)
  if (!Number.isInteger(number) || Number.isSafeInteger(number)) return number
  if (typeof value !== 'string') return value
  return /^\s*[-+]?\d+\s*$/.test(value) ? BigInt(value) : number
}

function toBoolean(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value
  const word = String(value).trim().toLowerCase()
  if (words.true.includes(word)) return true
  return words.false.includes(word) ? false : value
}

function toArray(value: unknown, items: JsonSchema): unknown {
  const list = Array.isArray(value) ? value : typeof value === 'string' ? splitCommas(value) : [value]
  return list.map((item) => coerce(item, items))
}

const splitCommas = (text: string) => (text.trim() === '' ? [] : text.split(',').map((part) => part.trim()))

/**
 * Convert to an object. Other keys than text (`{1: 2}` in YAML) become text; declared properties are converted, or get
 * their defaults.
 */
function toObject(value: unknown, schema: JsonSchema): unknown {
  const entries = value instanceof Map ? [...value] : isRecord(value) ? Object.entries(value) : undefined
  if (!entries) return value
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>
  const others = (
    typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}
  ) as JsonSchema
  const schemaOf = (key: string) =>
    Object.hasOwn(properties, key) ? (properties[key] as JsonSchema) : others
  const given = entries.map(([key, item]) => [String(key), coerce(item, schemaOf(String(key)))])
  return { ...defaultsIn(properties), ...Object.fromEntries(given) }
}

function defaultsIn(properties: Readonly<Record<string, JsonSchema>>): Record<string, unknown> {
  const entries = Object.entries(properties).filter(([, schema]) => schema.default !== undefined)
  return Object.fromEntries(entries.map(([name, schema]) => [name, filledDefault(schema.default, schema)]))
}
