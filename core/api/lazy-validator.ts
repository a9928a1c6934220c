import { createRequire } from 'node:module'
import type { ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'

/**
 * Compile a schema when the first request needs it: compiling all of them takes as long as the rest of the start of the API.
 * Values are checked as they are: not coerced, and without defaults.
 */
export const lazyValidator: FastifySchemaCompiler<object> = ({ schema }) => {
  let validate: ValidateFunction | undefined
  return (data: unknown) => {
    validate ??= compile(schema)
    return validate(data) || { error: validate.errors ?? [] }
  }
}

function compile(schema: object): ValidateFunction {
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv')
  return new Ajv({ strict: false }).compile(schema)
}
