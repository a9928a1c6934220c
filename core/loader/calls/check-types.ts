import { hasType } from '../../author/has-type.ts'
import type { JsonSchema, Params } from '../../author/params.ts'
import { demandOf, typeDemand } from '../offer/demands.ts'
import { type Check, memberOfType, refusal } from './validate.ts'

/**
 * Return a check for parameters that another host declares: types, ranges, lengths and shapes, with the messages of
 * `makeCheck`. Regular expressions (`pattern`, `format`) are left to that host, since matching one could take forever.
 */
export function checkTypes(params: Params): Check {
  return (values) => {
    for (const [name, value] of Object.entries(values)) {
      const param = Object.hasOwn(params, name) ? params[name] : undefined
      const wrong = param && findWrong(value, param.schema, [])
      if (wrong) return refusal({ name, ...wrong, hidden: param.secret === true })
    }
    return undefined
  }
}

interface Wrong {
  readonly inside: readonly string[]
  readonly demand: string
  readonly value?: unknown
}

/** Return what is wrong with the types, ranges, lengths or shapes in a value; undefined if nothing is. */
export function findWrong(value: unknown, schema: JsonSchema, path: readonly string[]): Wrong | undefined {
  const { anyOf, enum: members, type } = schema
  const wrong = (demand: string): Wrong => ({ inside: path, demand, value })
  if (Array.isArray(anyOf)) return findWrongInUnion(value, anyOf, path)
  if (typeof type === 'string' && !hasType(value, { type })) return wrong(typeDemand([schema], value))
  if (Array.isArray(members) && members.every((member) => typeof member === 'string'))
    return (members as unknown[]).includes(value) ? undefined : wrong(demandOf('enum', members))
  if (schema.const !== undefined && value !== schema.const) return wrong(demandOf('const', schema.const))
  const demand = rangeDemand(value, schema)
  return demand !== undefined ? wrong(demand) : findWrongInside(value, schema, path)
}

/**
 * Check a union. As in `makeCheck`, the message is about the whole union unless the value has the type of one member
 * only.
 */
function findWrongInUnion(
  value: unknown,
  members: readonly JsonSchema[],
  path: readonly string[],
): Wrong | undefined {
  const wrongs = members.map((member) => findWrong(value, member, path))
  if (wrongs.includes(undefined)) return undefined
  const own = memberOfType(value, members)
  return wrongs[own ?? -1] ?? { inside: path, demand: typeDemand(members, value), value }
}

const ranges: readonly (readonly [keyword: string, fits: (size: number, limit: number) => boolean])[] = [
  ['minimum', (size, limit) => size >= limit],
  ['maximum', (size, limit) => size <= limit],
  ['exclusiveMinimum', (size, limit) => size > limit],
  ['exclusiveMaximum', (size, limit) => size < limit],
]
const lengths: typeof ranges = [
  ['minLength', (size, limit) => size >= limit],
  ['maxLength', (size, limit) => size <= limit],
]
const sizes: typeof ranges = [
  ['minItems', (size, limit) => size >= limit],
  ['maxItems', (size, limit) => size <= limit],
]
const counts: typeof ranges = [
  ['minProperties', (size, limit) => size >= limit],
  ['maxProperties', (size, limit) => size <= limit],
]

function rangeDemand(value: unknown, schema: JsonSchema): string | undefined {
  const [table, size] = measured(value)
  const broken = table.find(([keyword, fits]) => {
    const limit = schema[keyword]
    return typeof limit === 'number' && !fits(size, limit)
  })
  return broken && demandOf(broken[0], schema[broken[0]])
}

/** Return the limits that apply to a value, and the number to compare with them. */
function measured(value: unknown): [typeof ranges, number] {
  if (typeof value === 'number') return [ranges, value]
  if (typeof value === 'string') return [lengths, [...value].length]
  if (Array.isArray(value)) return [sizes, value.length]
  return [counts, typeof value === 'object' && value !== null ? Object.keys(value).length : 0]
}

function findWrongInside(value: unknown, schema: JsonSchema, path: readonly string[]): Wrong | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { required } = schema
  const absent = Array.isArray(required)
    ? (required as string[]).find((key) => !Object.hasOwn(value, key))
    : undefined
  if (absent !== undefined) return { inside: path, demand: demandOf('required', absent) }
  for (const [key, member] of Object.entries(value)) {
    const inner = memberSchema(value, key, schema)
    if (inner === false) return { inside: path, demand: demandOf('additionalProperties', key) }
    const wrong = inner && findWrong(member, inner, [...path, key])
    if (wrong) return wrong
  }
  return undefined
}

/** Return the schema of a member; false if there must be no such member. */
export function memberSchema(value: object, key: string, schema: JsonSchema): JsonSchema | false | undefined {
  if (Array.isArray(value)) return schema.items as JsonSchema | undefined
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>
  if (Object.hasOwn(properties, key)) return properties[key]
  return schema.additionalProperties as JsonSchema | false | undefined
}
