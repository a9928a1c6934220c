import { encodeLocal } from '../codec/index.ts'

const REPLACEMENT = 'VALUE_TRIMMED'
/** Parts of the allowed size that one value may have, tried in turn until the whole fits. */
const SHARES = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01]

/**
 * The data of an event, packed. Where it would be larger than `maxSize` bytes, the largest values are replaced
 * (wire protocol §11): in nested maps one by one, arrays as a whole.
 */
export function trimmed(data: Record<string, unknown>, maxSize: number): Buffer {
  let packed = encodeLocal(data)
  for (const share of SHARES) {
    if (packed.length <= maxSize) return packed
    packed = encodeLocal(trimMap(data, maxSize * share))
  }
  return packed.length <= maxSize ? packed : encodeLocal(trimWholeValues(data, maxSize * 0.01))
}

/** Whether a part of an event was replaced: whoever fired it has more than it tells. */
export function isTrimmed(value: unknown): boolean {
  if (!isMap(value)) return value === REPLACEMENT
  return [...(value instanceof Map ? value.values() : Object.values(value))].some(isTrimmed)
}

function trimMap(map: object, limit: number): Map<unknown, unknown> {
  const entries = map instanceof Map ? [...map] : Object.entries(map)
  return new Map(entries.map(([key, value]) => [key, trimValue(value, limit)]))
}

function trimValue(value: unknown, limit: number): unknown {
  if (isMap(value)) return trimMap(value, limit)
  return sizeOf(value) > limit ? REPLACEMENT : value
}

/** When many small values make nested maps too large. */
function trimWholeValues(data: Record<string, unknown>, limit: number): Map<string, unknown> {
  return new Map(
    Object.entries(data).map(([key, value]) => [key, sizeOf(value) > limit ? REPLACEMENT : value]),
  )
}

const isMap = (value: unknown): value is object =>
  value instanceof Map ||
  (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (value instanceof Uint8Array) return value.length
  return typeof value === 'object' && value !== null ? encodeLocal(value).length : 9
}
