/** Maps, and which of their keys and values are equal in Python. */
import { isMapping, type Mapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import { TemplateError } from '../errors.ts'
import { isNumber } from './numbers.ts'
import { typeOf, Undefined, View } from './objects.ts'

export const sizeOf = (mapping: Mapping): number =>
  mapping instanceof Map ? mapping.size : Object.keys(mapping).length

export const entries = (mapping: Mapping): (readonly [unknown, unknown])[] =>
  mapping instanceof Map ? [...mapping] : Object.entries(mapping)

/** The keys that are equal in Python are the same one: 1, 1.0 and True. */
const keyOf = (key: unknown): unknown =>
  typeof key === 'boolean' ? Number(key) : key instanceof Number ? key.valueOf() : key

/** The key of a map that is equal to this one, if there is any. */
function keyIn(map: ReadonlyMap<unknown, unknown>, key: unknown): unknown {
  if (map.has(key)) return key
  if (key instanceof Tuple)
    return [...map.keys()].find((other) => other instanceof Tuple && isEqual(other, key)) ?? key
  if (!isNumber(key)) return key
  const number = keyOf(key)
  return (
    [number, Boolean(number)].find((other) => Number(other) === Number(number) && map.has(other)) ?? number
  )
}

export function getKey(mapping: Mapping, key: unknown): unknown {
  if (mapping instanceof Map) return mapping.get(keyIn(mapping, key))
  return typeof key === 'string' && Object.hasOwn(mapping, key) ? mapping[key as never] : undefined
}

export const hasKey = (mapping: Mapping, key: unknown): boolean =>
  mapping instanceof Map
    ? mapping.has(keyIn(mapping, key))
    : typeof key === 'string' && Object.hasOwn(mapping, key)

/** A map that a template may change, unless it is frozen. */
export type Dict = Map<unknown, unknown> | Record<string, unknown>

export const isDict = (value: unknown): value is Dict => isMapping(value)

/** @throws TemplateError if it is a list or map that a template may not change, such as the grains */
export function checkChangeable(value: readonly unknown[] | Mapping): void {
  if (!Object.isFrozen(value)) return
  throw new TemplateError(
    Array.isArray(value)
      ? 'this list cannot be changed: copy it by `|list`'
      : 'this map cannot be changed: copy it by dict(…)',
  )
}

export function setKey(dict: Dict, key: unknown, value: unknown): void {
  checkChangeable(dict)
  checkKey(key)
  if (dict instanceof Map)
    dict.set(hasKey(dict, key) || typeof key !== 'boolean' ? keyIn(dict, key) : key, value)
  else if (typeof key === 'string') Object.defineProperty(dict, key, { value, ...ordinary })
  else throw new TemplateError(`this map takes texts as keys only, not '${typeOf(key)}'`)
}

const ordinary = { writable: true, enumerable: true, configurable: true }

export function deleteKey(dict: Dict, key: unknown): void {
  checkChangeable(dict)
  if (dict instanceof Map) dict.delete(keyIn(dict, key))
  else delete dict[key as string]
}

function checkKey(key: unknown): void {
  if (key instanceof Undefined) key.use()
  if ((Array.isArray(key) && !(key instanceof Tuple)) || isMapping(key))
    throw new TemplateError(`unhashable type: '${typeOf(key)}'`)
}

/** Whether two values are equal in Python. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a instanceof Undefined) return a.isAllowed ? b instanceof Undefined : a.use()
  if (b instanceof Undefined) return b.isAllowed ? false : b.use()
  // biome-ignore lint/suspicious/noDoubleEquals: numbers and bigints are compared by value
  if (isNumber(a) && isNumber(b)) return a.valueOf() == b.valueOf()
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  if (Array.isArray(a) && Array.isArray(b))
    return (
      a instanceof Tuple === b instanceof Tuple &&
      a.length === b.length &&
      a.every((one, at) => isEqual(one, b[at]))
    )
  if (a instanceof View && b instanceof View) return a.typeName === b.typeName && isEqual(a.items, b.items)
  if (!isMapping(a) || !isMapping(b)) return false
  return (
    sizeOf(a) === sizeOf(b) &&
    entries(a).every(([key, value]) => hasKey(b, key) && isEqual(value, getKey(b, key)))
  )
}
