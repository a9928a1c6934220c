import { createRequire } from 'node:module'
import { isIPv4, isIPv6 } from 'node:net'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import type { JsonSchema, Params } from '../author/params.ts'
import { hasType } from './coerce.ts'

/** Checks coerced values; gives a sentence about the first that is wrong. Keys are names of parameters. */
export type Check = (values: Readonly<Record<string, unknown>>) => string | undefined

let ajv: Ajv | undefined

/**
 * The check of a function's parameters. What has only types and ranges is checked directly; ajv is loaded with the first
 * value that is wrong or whose schema asks for more (a pattern, a shape); then the function's schema is compiled.
 */
export function makeCheck(params: Params): Check {
  const schemas = Object.entries(params).map(([name, param]) => [name, param.schema] as const)
  const simple = schemas.every(([, schema]) => isSimple(schema, [...typeKeys, 'minimum', 'maximum']))
  let compiled: ValidateFunction | undefined
  return (values) => {
    const given = schemas.filter(([name]) => Object.hasOwn(values, name))
    if (simple && given.every(([name, schema]) => hasTypeAndRange(values[name], schema))) return undefined
    compiled ??= compile(Object.fromEntries(schemas))
    return compiled(values) ? undefined : sentence(compiled.errors ?? [], values, params)
  }
}

const typeKeys = ['type', 'description', 'default', 'enum', 'items', 'additionalProperties', 'anyOf']

/** True if the schema asks for nothing but what these keys say, and types inside it. */
function isSimple(schema: JsonSchema, keys: readonly string[] = typeKeys): boolean {
  const { items, additionalProperties, anyOf = [] } = schema as Record<string, unknown>
  const inner = [items, additionalProperties, ...(anyOf as unknown[])].filter((s) => s !== undefined)
  const known = Object.keys(schema).every((key) => keys.includes(key))
  return known && inner.every((s) => typeof s === 'object' && isSimple(s as JsonSchema))
}

function hasTypeAndRange(value: unknown, schema: JsonSchema): boolean {
  const { minimum, maximum } = schema
  const aboveMinimum = typeof minimum !== 'number' || Number(value) >= minimum
  return aboveMinimum && (typeof maximum !== 'number' || Number(value) <= maximum) && hasType(value, schema)
}

function compile(properties: Record<string, JsonSchema>): ValidateFunction {
  ajv ??= loadAjv()
  return ajv.compile({ type: 'object', properties })
}

function loadAjv(): Ajv {
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv')
  const formats = {
    ipv4: isIPv4,
    ipv6: isIPv6,
    uri: (text: string) => URL.canParse(text),
    'date-time': (text: string) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
    date: (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
    hostname: /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i,
    regex: (text: string) => isRegExp(text),
  }
  return new Ajv({ strict: false, logger: false, verbose: true, formats })
}

function isRegExp(text: string): boolean {
  try {
    return Boolean(new RegExp(text, 'u'))
  } catch {
    return false
  }
}

/** `'seconds' must be a number, not "soon"`. Secret values are not shown. */
function sentence(
  errors: readonly ErrorObject[],
  values: Readonly<Record<string, unknown>>,
  params: Params,
): string {
  // The last error of a union is the one about the whole of it.
  const error = errors.find((e) => e.keyword === 'anyOf') ?? (errors[0] as ErrorObject)
  const [name = '', ...inside] = error.instancePath.split('/').slice(1).map(unescapePointer)
  const value = inside.reduce<unknown>(
    (v, key) => (v as Record<string, unknown> | undefined)?.[key],
    values[name],
  )
  return refusal({ name, inside, demand: demand(error), value, secret: params[name]?.secret === true })
}

/** What is wrong with the value of a parameter, or with one inside it. */
export function refusal(wrong: {
  readonly name: string
  readonly inside: readonly string[]
  readonly demand: string
  readonly value: unknown
  readonly secret: boolean
}): string {
  const { name, inside, demand, value, secret } = wrong
  const place = inside.length > 0 ? ` in '${name}'` : ''
  return `'${inside.at(-1) ?? name}'${place} ${demand}${secret ? '' : `, not ${show(value)}`}`
}

const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

function demand(error: ErrorObject): string {
  const { allowedValues, additionalProperty } = error.params as Record<string, unknown>
  if (Array.isArray(allowedValues)) return `must be one of ${allowedValues.map(show).join(', ')}`
  if (additionalProperty !== undefined) return `must not have the key ${show(additionalProperty)}`
  if (error.keyword === 'anyOf') return unionDemand((error.parentSchema?.anyOf ?? []) as JsonSchema[])
  if (error.keyword === 'type') return typeDemand([error.params.type as string | string[]].flat())
  return error.message ?? 'is not valid'
}

/** What a value has to be that may be one of several. */
export function unionDemand(members: readonly JsonSchema[]): string {
  const types = new Set(members.flatMap(({ type }) => (typeof type === 'string' ? type : [])))
  return types.size > 0 ? typeDemand([...types]) : 'must be one of the accepted forms'
}

/** `must be a number or an array` */
export const typeDemand = (types: readonly string[]): string =>
  `must be ${types.map((type) => (type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`)).join(' or ')}`

/** A value in a sentence. */
export function show(value: unknown): string {
  const text =
    JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item)) ?? 'undefined'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
