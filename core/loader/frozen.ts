/** Frozen copies by what they were made of. */
const copies = new WeakMap<object, object>()

/**
 * The same value in a form that nobody can write to, all the way down: a write is a TypeError. What is no plain map and no
 * list stays as it is.
 */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (!Array.isArray(value) && !isPlain(value)) return value
  const known = copies.get(value)
  if (known) return known as T
  const copy: object = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))
  copies.set(value, copy)
  for (const key of Object.keys(value))
    Object.defineProperty(copy, key, { value: frozen(Reflect.get(value, key)), enumerable: true })
  return Object.freeze(copy) as T
}

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))
