/** Types of TypeScript for what minions report about their functions. The names in it are another host's: all are quoted. */
import type { JsonSchema, Param, Params } from '../../author/params.ts'
import { isRecord } from '../../base/record.ts'

/** Return the type of a function of a catalogue. `params` is null if nothing is known of them. */
export function functionType(params: Params | null, returns: JsonSchema | undefined): string {
  const result = returns ? schemaType(returns) : 'unknown'
  if (params === null) return `(...args: unknown[]) => ${result}`
  const members = Object.entries(params).map(([name, param]) => `${quoted(name)}: ${paramType(param)}`)
  return `Fn<{ ${members.join('; ')} }, Context, ${result}>`.replace('<{  }', '<Record<never, never>')
}

/** Return a text as a literal, without characters that are not seen, or that control a terminal. */
export const quoted = (text: unknown): string =>
  JSON.stringify(text).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (hidden) => `\\u{${(hidden.codePointAt(0) as number).toString(16)}}`,
  )

const union = (types: readonly string[]): string => (types.length === 0 ? 'never' : types.join(' | '))

function paramType({ kind, schema, optional }: Param<unknown>): string {
  const isOptional = kind !== 'value' || optional === true
  return `Param<${schemaType(schema)}, '${kind}', ${isOptional}>`
}

/** Return the type of the values that callers may give for a schema; `unknown` for what the builders of `p` do not make. */
export function schemaType(schema: JsonSchema): string {
  const { type, anyOf, enum: words, const: only, contentEncoding } = schema
  if (Array.isArray(anyOf)) return union(anyOf.map((member) => schemaType(member as JsonSchema)))
  if (Array.isArray(words)) return union(words.map(quoted))
  if (['string', 'number', 'boolean'].includes(typeof only)) return quoted(only)
  switch (type) {
    case 'string':
      return contentEncoding === 'base64' ? 'string | Uint8Array' : 'string'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
    case 'null':
      return type
    case 'array':
      return `(${isRecord(schema.items) ? schemaType(schema.items) : 'unknown'})[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType({ properties, required = [], additionalProperties }: JsonSchema): string {
  if (!isRecord(properties))
    return `Record<string, ${isRecord(additionalProperties) ? schemaType(additionalProperties) : 'unknown'}>`
  const needed = new Set(required as readonly string[])
  const members = Object.entries(properties).map(
    ([name, schema]) => `${quoted(name)}${needed.has(name) ? '' : '?'}: ${schemaType(schema as JsonSchema)}`,
  )
  return `{ ${members.join('; ')} }`
}
