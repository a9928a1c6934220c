import type { JsonSchema, Params } from '../../author/params.ts'
import { nameOfKind } from './bind.ts'

/**
 * Return the parameters of a function as one JSON Schema (draft 2020-12) of an object, for forms, API clients and
 * completion. The properties are in the order of the positions; `*args` is an array, `**kwargs` the additional properties;
 * a secret is `writeOnly`.
 */
export function schemaOf(params: Params, description?: string): JsonSchema {
  const entries = Object.entries(params)
  const collector = nameOfKind(params, 'keywords')
  const required = entries.filter(([, param]) => !param.optional).map(([name]) => name)
  const properties = entries
    .filter(([name]) => name !== collector)
    .map(([name, param]) => [
      name,
      {
        ...param.schema,
        ...(param.default !== undefined && { default: param.default }),
        ...(param.secret && { writeOnly: true }),
      },
    ])
  const others = collector === undefined ? false : (params[collector]?.schema.additionalProperties ?? true)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...(description !== undefined && { description }),
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: others,
  }
}
