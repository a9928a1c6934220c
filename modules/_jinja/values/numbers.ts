/** Numbers of Python. */
import { Float } from '#internal'
import { TemplateError } from '../errors.ts'
import { typeOf, Undefined } from './objects.ts'

/** A float of Python: whole ones are `Float`. */
export const float = (value: number): number | Float => (Number.isInteger(value) ? new Float(value) : value)

/** A big integer as a number, if it is small enough. */
export const shrunk = (value: bigint): bigint | number =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value

export const isFloat = (value: unknown): boolean =>
  value instanceof Number || (typeof value === 'number' && !Number.isSafeInteger(value))

export type Num = number | bigint | boolean | Float

export const isNumber = (value: unknown): value is Num =>
  typeof value === 'number' ||
  typeof value === 'bigint' ||
  typeof value === 'boolean' ||
  value instanceof Number

/** A whole number. @throws TemplateError */
export function integer(value: unknown): number {
  if (value instanceof Undefined) return value.use()
  if (!isNumber(value) || isFloat(value))
    throw new TemplateError(`'${typeOf(value)}' object cannot be interpreted as an integer`)
  return Number(value)
}
