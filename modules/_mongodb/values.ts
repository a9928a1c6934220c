/** Values in MongoDB, and values of callers. */
import { SaltInvocationError } from 'salt-ts'
import { library } from '../_database/library.ts'
import { entriesOf, isMapping } from '../_values/traverse.ts'

type Fields = Record<string, unknown>

const bson = () => library<typeof import('mongodb')>('mongodb', 'mongodb').BSON

/** Return a value that a caller writes, as JSON or as it is. @throws SyntaxError */
export const parsed = (given: unknown): unknown => (typeof given === 'string' ? JSON.parse(given) : given)

/** Return a document or a filter of a caller, as MongoDB keeps it. @throws SaltInvocationError if it is no map */
export function fieldsOf(value: unknown): Fields {
  if (isMapping(value))
    return Object.fromEntries(entriesOf(value).map(([name, member]) => [name, stored(member)]))
  throw new SaltInvocationError(
    `${JSON.stringify(value) ?? 'nothing'} is no document of MongoDB; it has to be a map`,
  )
}

// Whole floats are boxed in values of callers.
function stored(value: unknown): unknown {
  if (value instanceof Number) return new (bson().Double)(value.valueOf())
  if (Array.isArray(value)) return value.map(stored)
  return isMapping(value) ? fieldsOf(value) : value
}

/** Return a value of MongoDB as a return can hold it: ids as hexadecimal text, and other types of its own as in extended JSON. */
export function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (Array.isArray(value)) return value.map(plain)
  const { _bsontype: type } = value as { _bsontype?: string }
  if (type === 'ObjectId' || type === 'Decimal128') return String(value)
  if (type === 'Binary') return (value as { value(): Uint8Array }).value()
  if (type !== undefined) return bson().EJSON.serialize(value)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}
