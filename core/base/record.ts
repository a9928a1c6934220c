/** A map with text keys, such as a decoded message or a part of it. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether a value is a plain object, as MessagePack, JSON and YAML decode a map with text keys. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** A decoded map: a plain object, or a `Map` if its keys are not all text. */
export type Mapping = Fields | ReadonlyMap<unknown, unknown>

export const isMapping = (value: unknown): value is Mapping => value instanceof Map || isRecord(value)
