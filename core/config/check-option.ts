import type { JsonSchema } from '../author/params.ts'
import { SaltError } from '../base/errors.ts'
import { isSecretName } from '../base/secret.ts'

/**
 * Check one value against the schema of its option. Supports the few keywords of JSON Schema that the option tables use, with the
 * same result as ajv (a test compares them); loading ajv would take longer than everything else in a short command.
 *
 * @param source where the option was set, for the message
 * @throws SaltError CONFIG_INVALID with source, key, the value and the expected type
 */
export function checkOption(key: string, schema: JsonSchema, value: unknown, source: string): void {
  const problem = problemWith(value, schema)
  if (!problem) return
  const place = [key, ...problem.inside].join(':')
  const expected = expectation(problem.schema)
  throw new SaltError(
    'CONFIG_INVALID',
    `The option ${place} in ${source} must be ${expected}, but is ${describe(place, problem.found)}.`,
    { file: source, key: place, reason: `must be ${expected}` },
  )
}

interface Problem {
  /** Keys and indices that lead from the option to the wrong value. */
  readonly inside: readonly string[]
  readonly found: unknown
  readonly schema: JsonSchema
}

/** Return the first value, at the top or nested, that does not match the schema. */
export function problemWith(value: unknown, schema: JsonSchema): Problem | undefined {
  const fits =
    typesOf(schema).some((type) => types.get(type)?.(value)) &&
    (!Array.isArray(schema.enum) || schema.enum.includes(value)) &&
    (typeof value !== 'number' || inRange(schema, value))
  return fits ? problemInside(value, schema) : { inside: [], found: value, schema }
}

function problemInside(value: unknown, schema: JsonSchema): Problem | undefined {
  const inner = Array.isArray(value) ? schema.items : schema.additionalProperties
  if (typeof value !== 'object' || value === null || inner === undefined) return undefined
  for (const [name, found] of Object.entries(value)) {
    const problem = problemWith(found, inner as JsonSchema)
    if (problem) return { ...problem, inside: [name, ...problem.inside] }
  }
  return undefined
}

const types = new Map<unknown, (value: unknown) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['boolean', (value) => typeof value === 'boolean'],
  ['number', (value) => Number.isFinite(value)],
  ['integer', (value) => Number.isInteger(value)],
  ['array', (value) => Array.isArray(value)],
  ['object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)],
  ['null', (value) => value === null],
])

function inRange({ minimum, maximum }: JsonSchema, value: number): boolean {
  return (
    !(typeof minimum === 'number' && value < minimum) && !(typeof maximum === 'number' && value > maximum)
  )
}

const typeNames = new Map<unknown, string>([
  ['string', 'text'],
  ['boolean', 'true or false'],
  ['number', 'a number'],
  ['integer', 'a whole number'],
  ['array', 'a list'],
  ['object', 'a map'],
  ['null', 'empty'],
])

function typesOf(schema: JsonSchema): readonly unknown[] {
  return Array.isArray(schema.type) ? schema.type : [schema.type]
}

/** Return `a whole number from 0 to 65535`, `text or a list of text`, `one of ipc, tcp`. */
function expectation(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(', ')}`
  const types = typesOf(schema).map((type) => {
    const items = type === 'array' && schema.items ? ` of ${expectation(schema.items as JsonSchema)}` : ''
    return (typeNames.get(type) ?? String(type)) + items
  })
  return types.join(' or ') + rangeOf(schema)
}

function rangeOf({ minimum, maximum }: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `, at least ${minimum}`
  return maximum !== undefined ? `, at most ${maximum}` : ''
}

/** Describe a value for a message; only its type if the key is the name of a secret. */
function describe(place: string, value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (value === null || value === undefined) return 'empty'
  if (typeof value === 'object') return 'a map'
  const kind = typeNames.get(typeof value) ?? 'a number'
  if (place.split(':').some(isSecretName)) return kind
  if (typeof value === 'boolean') return `${value} (text such as yes, on or no needs quotes)`
  return typeof value === 'string' ? `the text ${JSON.stringify(value.slice(0, 60))}` : String(value)
}
