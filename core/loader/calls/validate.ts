import { createRequire } from 'node:module'
import { isIPv4, isIPv6 } from 'node:net'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import { hasType } from '../../author/has-type.ts'
import type { JsonSchema, Params } from '../../author/params.ts'
import { messageOf } from '../../base/errors.ts'
import { demandOf, shownValue, typeDemand } from '../offer/demands.ts'

/** Checks coerced values by parameter name, and returns a sentence about the first invalid one. */
export type Check = (values: Readonly<Record<string, unknown>>) => string | undefined

let ajv: Ajv | undefined

/**
 * Return a check for a function's parameters. Types and ranges are checked directly. For an invalid value, or schemas with
 * further keywords (a pattern, a shape), ajv is loaded and the schemas are compiled when first needed.
 */
export function makeCheck(params: Params): Check {
  const schemas = Object.entries(params).map(([name, param]) => [name, param.schema] as const)
  const simple = schemas.every(([, schema]) => isSimple(schema, [...typeKeys, 'minimum', 'maximum']))
  let compiled: ValidateFunction | undefined
  return (values) => {
    const given = schemas.filter(([name]) => Object.hasOwn(values, name))
    if (simple && given.every(([name, schema]) => hasTypeAndRange(values[name], schema))) return undefined
    compiled ??= compile(Object.fromEntries(schemas))
    return compiled(values) ? undefined : sentence(compiled.errors ?? [], params)
  }
}

const typeKeys = ['type', 'description', 'default', 'enum', 'items', 'additionalProperties', 'anyOf']

/** Whether the schema has only these keys, and schemas inside it only types. */
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
  return ajv.compile({ type: 'object', properties: exactly(properties) })
}

/** Return why a schema is not valid; undefined if it is. */
export function whyInvalidSchema(schema: JsonSchema): string | undefined {
  ajv ??= loadAjv()
  try {
    if (!ajv.validateSchema(schema)) return ajv.errorsText(ajv.errors, { dataVar: 'schema' })
    if (!isSimple(schema)) compile({ value: schema }) // it may refer to others, which takes time to find out
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** Return the schemas with `exactInteger` added: an integer must be one that a number represents exactly. */
function exactly(schemas: unknown): unknown {
  if (Array.isArray(schemas)) return schemas.map(exactly)
  if (typeof schemas !== 'object' || schemas === null) return schemas
  const entries = Object.entries(schemas).map(([key, inner]) => [key, exactly(inner)])
  const { type } = schemas as JsonSchema
  return { ...Object.fromEntries(entries), ...(type === 'integer' && { exactInteger: true }) }
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
  const validator = new Ajv({ strict: false, logger: false, verbose: true, formats })
  return validator.addKeyword({
    keyword: 'exactInteger',
    validate: (_: true, value: unknown) => !Number.isInteger(value) || Number.isSafeInteger(value),
  })
}

function isRegExp(text: string): boolean {
  try {
    return Boolean(new RegExp(text, 'u'))
  } catch {
    return false
  }
}

/** Return a sentence about the errors: `'seconds' must be a number, not "soon"`. Secret values are not shown. */
function sentence(errors: readonly ErrorObject[], params: Params): string {
  const error = decisive(errors)
  const [name = '', ...inside] = error.instancePath.split('/').slice(1).map(unescapePointer)
  const hidden = params[name]?.secret === true
  return refusal({
    name,
    inside,
    demand: demand(error),
    hidden,
    ...(!isAboutKey(error) && { value: error.data }),
  })
}

/** Return the error to report. A union is reported as a whole, unless the value has the type of exactly one member. */
function decisive(errors: readonly ErrorObject[]): ErrorObject {
  const union = errors.findLast(({ keyword }) => keyword === 'anyOf')
  const member = union && memberOfType(union.data, union.schema as JsonSchema[])
  const inside = errors.find(({ schemaPath }) => schemaPath.startsWith(`${union?.schemaPath}/${member}/`))
  return inside ?? union ?? (errors[0] as ErrorObject)
}

/** Return the index of the only member whose type the value has; undefined if none or several do, or it is an enum. */
export function memberOfType(value: unknown, members: readonly JsonSchema[]): number | undefined {
  const alike = [...members.keys()].filter((index) => {
    const { type, enum: words } = members[index] as JsonSchema
    return type !== undefined && hasType(value, { type, enum: words && [] })
  })
  return alike.length === 1 ? alike[0] : undefined
}

const isAboutKey = ({ keyword }: ErrorObject) => keyword === 'required' || keyword === 'additionalProperties'

/** Return a sentence about an invalid value of a parameter, or inside one, with the value if it may be shown. */
export function refusal(wrong: {
  readonly name: string
  readonly inside: readonly string[]
  readonly demand: string
  readonly value?: unknown
  readonly hidden: boolean
}): string {
  const { name, inside, demand, value, hidden } = wrong
  const place = inside.length > 0 ? ` in '${name}'` : ''
  const given = hidden || !('value' in wrong) ? '' : `, not ${shownValue(value)}`
  return `'${inside.at(-1) ?? name}'${place} ${demand}${given}`
}

const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

function demand({ keyword, params, schema, parentSchema = {}, data }: ErrorObject): string {
  if (keyword === 'anyOf' || keyword === 'type') return typeDemand([parentSchema], data)
  const { missingProperty, additionalProperty } = params as Record<string, unknown>
  return demandOf(keyword, missingProperty ?? additionalProperty ?? schema)
}
