/**
 * What is written for an object: what its `toJSON` gives, the name and message of an error, the bytes of a buffer, the
 * numbers of a typed array. Any other object stands for itself and is written by its members.
 * Throws TypeError for a promise: nobody has waited for what it holds.
 */
export function representationOf(object: object): unknown {
  if (Array.isArray(object) || object instanceof Uint8Array || object instanceof DataView) return object
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype === Object.prototype || prototype === null) return object
  const { toJSON } = object as { toJSON?: unknown }
  if (typeof toJSON === 'function') return toJSON.call(object)
  if (object instanceof Error) return String(object)
  if (object instanceof ArrayBuffer || object instanceof SharedArrayBuffer) return new Uint8Array(object)
  if (ArrayBuffer.isView(object)) return Array.from(object as unknown as Iterable<number | bigint>)
  if (object instanceof Promise) throw new TypeError('a promise was not awaited')
  return object
}
