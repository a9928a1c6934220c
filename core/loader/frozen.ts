import { isRecord } from '../base/record.ts'

/** Frozen copies by their originals. */
const copies = new WeakMap<object, object>()

/**
 * Return a deeply frozen copy of a value; writing to it throws a TypeError. Values other than plain maps and lists are
 * returned unchanged.
 */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (!Array.isArray(value) && !isRecord(value)) return value
  const known = copies.get(value)
  if (known) return known as T
  const copy: object = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))
  copies.set(value, copy)
  for (const key of Object.keys(value))
    Object.defineProperty(copy, key, { value: frozenCopy(Reflect.get(value, key)), enumerable: true })
  return Object.freeze(copy) as T
}
