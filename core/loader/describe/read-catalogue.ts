import type { JsonSchema, Param, Params } from '../../author/params.ts'
import { isRecord } from '../../base/record.ts'
import type { Catalogue } from './describe.ts'

const MAX_NAMES = 50_000
const MAX_NAME_LENGTH = 256
const MAX_SENTENCE_LENGTH = 2_000
/** Levels of schemas inside schemas. */
const MAX_DEPTH = 12
/** Levels of unions: each multiplies the cost of a check. */
const DEEPEST_UNION = 2
const WIDEST_UNION = 16

/**
 * Read the catalogue that another host reports. Undefined if it is malformed. Parameters in an unknown form, or whose check
 * would be expensive, count as unknown.
 */
export function readCatalogue(text: string): Catalogue | undefined {
  const given = parsed(text)
  if (!isRecord(given) || !isRecord(given.functions) || !isRecord(given.missing)) return undefined
  const [functions, missing] = [Object.entries(given.functions), Object.entries(given.missing)]
  if (functions.length > MAX_NAMES || missing.length > MAX_NAMES) return undefined
  const read = functions.map(([name, params]) => [name, readParams(params)] as const)
  const unreadable = read.filter(([, params], index) => !params && functions[index]?.[1] !== null)
  const returns = isRecord(given.returns) ? Object.entries(given.returns) : []
  return {
    ...(given.python === true && { python: true }),
    ...(unreadable.length > 0 && { unreadable: new Set(unreadable.map(([name]) => name)) }),
    ...(returns.length > 0 && { returns: named(returns.filter(hasSchema)) }),
    functions: named(read),
    missing: named(missing.map(([name, reason]) => [name, readSentence(reason)])),
  }
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'])
const NUMBERS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
]
const TEXTS = ['pattern', 'format']

/** Return text from another host as a single line without control characters. */
export function readSentence(value: unknown): string {
  const text = typeof value === 'string' ? value.slice(0, MAX_SENTENCE_LENGTH).replace(/\p{Cc}+/gu, ' ') : ''
  return text.trim() === '' ? 'it gave no reason' : text
}

/** Make a map without a prototype, since the names come from another host. */
function named<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  const map: Record<string, T> = Object.create(null)
  for (const [name, value] of entries) if (name.length <= MAX_NAME_LENGTH) map[name] = value
  return map
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isParam = (value: unknown): value is Param<unknown> =>
  isRecord(value) &&
  ['value', 'rest', 'keywords'].some((kind) => kind === value.kind) &&
  isSchema(value.schema) &&
  [undefined, true, false].includes(value.optional as boolean | undefined)

function readParams(value: unknown): Params | null {
  if (
    !isRecord(value) ||
    !Object.entries(value).every(([name, param]) => name !== '__proto__' && isParam(param))
  )
    return null
  return value as Params
}

/** Whether a value is a schema as the builders of parameters make them, within the limits above. */
function isSchema(value: unknown, depth = 0, unions = 0): value is JsonSchema {
  if (!isRecord(value) || depth > MAX_DEPTH) return false
  const { type, items, properties, additionalProperties, anyOf, required } = value
  const inner = (schema: unknown) => schema === undefined || isSchema(schema, depth + 1, unions)
  if (type !== undefined && !(typeof type === 'string' && TYPES.has(type))) return false
  if (!hasTypes(value, NUMBERS, 'number') || !hasTypes(value, TEXTS, 'string')) return false
  if (required !== undefined && !isTexts(required)) return false
  if (value.enum !== undefined && !isTexts(value.enum)) return false
  if (anyOf !== undefined && !isUnion(anyOf, depth, unions + 1)) return false
  if (properties !== undefined && !(isRecord(properties) && Object.values(properties).every(inner)))
    return false
  return inner(items) && (typeof additionalProperties === 'boolean' || inner(additionalProperties))
}

/** Whether members have a type, or are not there. JSON has null for numbers that are infinite. */
const hasTypes = (schema: JsonSchema, members: readonly string[], type: 'number' | 'string'): boolean =>
  members.every((name) => [undefined, null].includes(schema[name] as null) || typeof schema[name] === type)

function isUnion(members: unknown, depth: number, unions: number): boolean {
  if (!Array.isArray(members) || members.length > WIDEST_UNION || unions > DEEPEST_UNION) return false
  return members.every((member) => isSchema(member, depth + 1, unions))
}

const hasSchema = (entry: [string, unknown]): entry is [string, JsonSchema] => isSchema(entry[1])

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
