import { isRecord } from '../base/record.ts'
import type { JsonSchema } from './params.ts'

/** Whether the value has the declared type. Of further constraints only `enum` and `const` are checked. */
export function hasType(value: unknown, schema: JsonSchema): boolean {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((member) => hasType(value, member as JsonSchema))
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  if (schema.const !== undefined) return value === schema.const
  if (schema.type === 'null') return value === null
  if (schema.type === 'integer') return Number.isSafeInteger(value)
  if (schema.type === 'number') return Number.isFinite(value)
  if (schema.type === 'array')
    return Array.isArray(value) && value.every((v) => hasType(v, (schema.items ?? {}) as JsonSchema))
  if (schema.type === 'object') return isRecord(value) && hasMembers(value, schema.additionalProperties)
  return schema.type === undefined || typeof value === schema.type
}

const hasMembers = (value: object, schema: unknown) =>
  typeof schema !== 'object' || Object.values(value).every((member) => hasType(member, schema as JsonSchema))
