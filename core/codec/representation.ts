import { isRecord } from '../base/record.ts'

/**
 * Return the value that is encoded for an object: the result of its `toJSON`, the name and message of an error, the bytes
 * of a buffer, the numbers of a typed array. Any other object is returned unchanged, and encoded by its members.
 * Throws TypeError for a promise, which somebody forgot to await, and for an iterator, which can be read only once.
 */
export function representationOf(object: object): unknown {
  if (Array.isArray(object) || object instanceof Uint8Array || object instanceof DataView) return object
  if (isRecord(object)) return object
  const { toJSON } = object as { toJSON?: unknown }
  if (typeof toJSON === 'function') return toJSON.call(object)
  if (object instanceof Error) return String(object)
  if (object instanceof ArrayBuffer || object instanceof SharedArrayBuffer) return new Uint8Array(object)
  if (ArrayBuffer.isView(object)) return Array.from(object as unknown as Iterable<number | bigint>)
  if (object instanceof Promise) throw new TypeError('a promise was not awaited')
  if (isIterator(object)) throw new TypeError('an iterator is not a list')
  return object
}

/** Whether an object is what `map.keys()` or a generator function returns. */
export const isIterator = (object: object): boolean =>
  'next' in object &&
  typeof object.next === 'function' &&
  (Symbol.iterator in object || Symbol.asyncIterator in object)
