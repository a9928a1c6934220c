/** The elements of values. */
import { isMapping } from '../../_values/traverse.ts'
import { TemplateError } from '../errors.ts'
import { entries, getKey, sizeOf } from './dicts.ts'
import { isFloat, isNumber } from './numbers.ts'
import { Range, typeOf, Undefined, View } from './objects.ts'

export function isTrue(value: unknown): boolean {
  if (value instanceof Undefined) return value.isAllowed ? false : value.use()
  if (value instanceof Number) return value.valueOf() !== 0
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length > 0
  if (value instanceof View) return value.items.length > 0
  if (isMapping(value)) return sizeOf(value) > 0
  return Boolean(value)
}

const SURROGATE = /[\ud800-\udfff]/

/** An element of a map or list, if it is there. */
export function elementOf(value: unknown, key: unknown): unknown {
  if (isMapping(value)) return getKey(value, key)
  if (value instanceof Range) return elementOf(value.items, key)
  const isList = Array.isArray(value) || typeof value === 'string' || value instanceof Uint8Array
  if (!isList || !isNumber(key) || isFloat(key)) return undefined
  const at = Number(key)
  if (typeof value === 'string' && !SURROGATE.test(value)) return value.at(at) // most have a unit for each character
  return elements(value).at(at)
}

/** The elements of a list, the keys of a map, or the characters of a text. @throws TemplateError for others */
export function elements(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (value instanceof View) return value.items
  if (typeof value === 'string') return [...value]
  if (value instanceof Undefined) return value.isAllowed ? [] : value.use()
  if (value instanceof Uint8Array) return [...value]
  if (isMapping(value)) return entries(value).map(([key]) => key)
  throw new TemplateError(`'${typeOf(value)}' object is not iterable`)
}

/** Add the elements of a value to a list, which may be the list itself. Not by `push(...)`: the stack has no room for so many. */
export function extend(list: unknown[], value: unknown): void {
  for (const each of [...elements(value)]) list.push(each)
}

export const isIterable = (value: unknown): boolean =>
  value instanceof View ||
  Array.isArray(value) ||
  typeof value === 'string' ||
  value instanceof Uint8Array ||
  isMapping(value)

export function lengthOf(value: unknown): number {
  if (value instanceof Undefined) return value.use()
  if (!isIterable(value)) throw new TemplateError(`object of type '${typeOf(value)}' has no len()`)
  return isMapping(value) ? sizeOf(value) : elements(value).length
}
