import type { JsonSchema, Param, Params } from '../author/params.ts'
import type { Catalogue } from './describe.ts'

const MOST_NAMES = 50_000
const LONGEST_NAME = 256
const LONGEST_SENTENCE = 2_000
/** Of a schema inside a schema. What is deeper is not known: each level of a union multiplies what a check costs. */
const DEEPEST = 12
const DEEPEST_UNION = 2
const WIDEST_UNION = 16

/**
 * A catalogue as another host describes itself. Undefined if it is none; parameters in a form that is not known, or
 * that would be dear to check, are taken for unknown.
 */
export function readCatalogue(text: string): Catalogue | undefined {
  const given = parsed(text)
  if (!isMap(given) || !isMap(given.functions) || !isMap(given.missing)) return undefined
  const [functions, missing] = [Object.entries(given.functions), Object.entries(given.missing)]
  if (functions.length > MOST_NAMES || missing.length > MOST_NAMES) return undefined
  const read = functions.map(([name, params]) => [name, readParams(params)] as const)
  const unreadable = read.filter(([, params], index) => !params && functions[index]?.[1] !== null)
  return {
    ...(given.python === true && { python: true }),
    ...(unreadable.length > 0 && { unreadable: new Set(unreadable.map(([name]) => name)) }),
    functions: named(read),
    missing: named(missing.map(([name, reason]) => [name, readSentence(reason)])),
  }
}

/** What a host says, in one line that does nothing to a terminal. */
export const readSentence = (value: unknown): string =>
  (typeof value === 'string' ? value : 'it did not say why')
    .slice(0, LONGEST_SENTENCE)
    .replace(/\p{Cc}+/gu, ' ')

/** Without a prototype: names are what another host says. */
function named<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  const map: Record<string, T> = Object.create(null)
  for (const [name, value] of entries) if (name.length <= LONGEST_NAME) map[name] = value
  return map
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>
const isMap = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isParam = (value: unknown): value is Param<unknown> =>
  isMap(value) &&
  ['value', 'rest', 'keywords'].includes(String(value.kind)) &&
  isSchema(value.schema) &&
  [undefined, true, false].includes(value.optional as boolean | undefined)

function readParams(value: unknown): Params | null {
  if (
    !isMap(value) ||
    !Object.entries(value).every(([name, param]) => name !== '__proto__' && isParam(param))
  )
    return null
  return value as Params
}

/** True for what the builders of parameters make, and no deeper than anybody would write. */
function isSchema(value: unknown, depth = 0, unions = 0): value is JsonSchema {
  if (!isMap(value) || depth > DEEPEST) return false
  const { type, items, properties, additionalProperties, anyOf, required } = value
  const inner = (schema: unknown) => schema === undefined || isSchema(schema, depth + 1, unions)
  if (type !== undefined && typeof type !== 'string') return false
  if (required !== undefined && !isTexts(required)) return false
  if (value.enum !== undefined && !isTexts(value.enum)) return false
  if (anyOf !== undefined && !isUnion(anyOf, depth, unions + 1)) return false
  if (properties !== undefined && !(isMap(properties) && Object.values(properties).every(inner))) return false
  return inner(items) && (typeof additionalProperties === 'boolean' || inner(additionalProperties))
}

function isUnion(members: unknown, depth: number, unions: number): boolean {
  if (!Array.isArray(members) || members.length > WIDEST_UNION || unions > DEEPEST_UNION) return false
  return members.every((member) => isSchema(member, depth + 1, unions))
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
