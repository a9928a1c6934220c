/**
 * Schemas of other libraries: zod, valibot, arktype and all that follow Standard Schema (https://standardschema.dev). They are
 * accepted wherever one of `p` is. Their JSON Schema is used for help, forms and the check before a job is published.
 */
import { isRecord } from '../base/record.ts'
import type { Converted } from './conversions.ts'
import type { JsonSchema, Param } from './params.ts'

/** What Standard Schema specifies, as far as it is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** Present if the library follows Standard JSON Schema, too. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => JsonSchema }
  }
}

type Result<T> = { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Whether a value is such a schema. That of arktype is a function. */
export function isStandardSchema(given: unknown): given is StandardSchema {
  if ((typeof given !== 'object' && typeof given !== 'function') || given === null) return false
  const standard = Reflect.get(given, '~standard')
  return typeof standard?.validate === 'function'
}

/** Return a parameter that the schema converts and checks. It may be left out if the schema accepts `undefined`. */
export function standardParam(schema: StandardSchema): Param<unknown> {
  const { validate, vendor } = schema['~standard']
  const absent = validate(undefined)
  return {
    kind: 'value',
    schema: jsonSchemaOf(schema) ?? { description: `Checked on the minion, by its schema of ${vendor}.` },
    ...(!('then' in absent) && !absent.issues && { optional: true, convertsAbsent: true }),
    convert: async (value) => asConverted(await validate(value)),
  }
}

function asConverted(result: Result<unknown>): Converted {
  if (result.issues === undefined) return { value: result.value }
  const [issue] = result.issues
  const path = issue?.path ?? []
  return {
    demand: 'is not accepted',
    detail: `: ${issue?.message ?? 'its schema gives no reason'}`,
    inside: path.map((part) => String(typeof part === 'object' ? part.key : part)),
  }
}

/** Return the JSON Schema that a library gives; undefined if it gives none, or one that refers to parts of itself. */
function jsonSchemaOf(schema: StandardSchema): JsonSchema | undefined {
  try {
    const found = schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? ownJsonSchema(schema)
    if (!isRecord(found) || JSON.stringify(found).includes('"$ref":')) return undefined
    const { $schema, ...plain } = found
    return plain
  } catch {
    return undefined // the schema has a part that JSON Schema has no words for
  }
}

/** Call the method that libraries had before Standard JSON Schema. */
function ownJsonSchema(schema: StandardSchema): unknown {
  for (const name of ['toJSONSchema', 'toJsonSchema']) {
    const method = Reflect.get(schema, name)
    if (typeof method === 'function') return method.call(schema)
  }
  return undefined
}
