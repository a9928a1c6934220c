import type { JsonSchema, Params } from '../author/params.ts'
import { hasType } from './coerce.ts'
import { type Check, refusal, show, typeDemand, unionDemand } from './validate.ts'

/**
 * The check of parameters that came from another host: types, ranges, lengths and shapes, in the words of `makeCheck`.
 * Expressions (`pattern`, `format`) are left to that host: one of them could take for ever, so what only they refuse
 * passes here.
 */
export function checkTypes(params: Params): Check {
  return (values) => {
    for (const [name, value] of Object.entries(values)) {
      const param = Object.hasOwn(params, name) ? params[name] : undefined
      const wrong = param && findWrong(value, param.schema, [])
      if (wrong) return refusal({ name, ...wrong, secret: param.secret === true })
    }
    return undefined
  }
}

interface Wrong {
  readonly inside: readonly string[]
  readonly demand: string
  readonly value: unknown
}

function findWrong(value: unknown, schema: JsonSchema, path: readonly string[]): Wrong | undefined {
  const { anyOf, enum: members, type } = schema
  const wrong = (demand: string): Wrong => ({ inside: path, demand, value })
  if (Array.isArray(anyOf))
    return anyOf.some((member: JsonSchema) => !findWrong(value, member, path))
      ? undefined
      : wrong(unionDemand(anyOf))
  if (typeof type === 'string' && !hasType(value, { type })) return wrong(typeDemand([type]))
  if (Array.isArray(members) && members.every((member) => typeof member === 'string'))
    return (members as unknown[]).includes(value)
      ? undefined
      : wrong(`must be one of ${members.map(show).join(', ')}`)
  const demand = rangeDemand(value, schema)
  return demand !== undefined ? wrong(demand) : findWrongInside(value, schema, path)
}

function rangeDemand(value: unknown, schema: JsonSchema): string | undefined {
  const { minimum, maximum, minLength, maxLength } = schema
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum) return `must be >= ${minimum}`
    if (typeof maximum === 'number' && value > maximum) return `must be <= ${maximum}`
  }
  if (typeof value === 'string') {
    const length = [...value].length
    if (typeof minLength === 'number' && length < minLength)
      return `must NOT have fewer than ${minLength} characters`
    if (typeof maxLength === 'number' && length > maxLength)
      return `must NOT have more than ${maxLength} characters`
  }
  return undefined
}

function findWrongInside(value: unknown, schema: JsonSchema, path: readonly string[]): Wrong | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { required } = schema
  const absent = Array.isArray(required)
    ? (required as string[]).find((key) => !Object.hasOwn(value, key))
    : undefined
  if (absent !== undefined) return { inside: path, demand: `must have required property '${absent}'`, value }
  for (const [key, member] of Object.entries(value)) {
    const inner = memberSchema(value, key, schema)
    if (inner === false) return { inside: path, demand: `must not have the key ${show(key)}`, value }
    const wrong = inner && findWrong(member, inner, [...path, key])
    if (wrong) return wrong
  }
  return undefined
}

/** False: there must be no such member. */
function memberSchema(value: object, key: string, schema: JsonSchema): JsonSchema | false | undefined {
  if (Array.isArray(value)) return schema.items as JsonSchema | undefined
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>
  if (Object.hasOwn(properties, key)) return properties[key]
  return schema.additionalProperties as JsonSchema | false | undefined
}
