import { isMapping } from '../base/record.ts'
import { encodeLocal } from '../codec/index.ts'

const REPLACEMENT = 'VALUE_TRIMMED'
/** Shares of the allowed size that a single value may have, tried in order until the data fits. */
const SHARES = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01]

/**
 * Encode the data of an event. If it is larger than `maxSize` bytes, the largest values are replaced (wire protocol §11): in
 * nested maps one by one, arrays as a whole.
 */
export function packTrimmed(data: Record<string, unknown>, maxSize: number): Buffer {
  let packed = encodeLocal(data)
  for (const share of SHARES) {
    if (packed.length <= maxSize) return packed
    packed = encodeLocal(trimMap(data, maxSize * share))
  }
  return packed.length <= maxSize ? packed : encodeLocal(trimWholeValues(data, maxSize * 0.01))
}

/** Whether a value of an event was replaced, so that the event is incomplete. */
export function isTrimmed(value: unknown): boolean {
  if (!isMapping(value)) return value === REPLACEMENT
  return [...(value instanceof Map ? value.values() : Object.values(value))].some(isTrimmed)
}

function trimMap(map: object, limit: number): Map<unknown, unknown> {
  const entries = map instanceof Map ? [...map] : Object.entries(map)
  return new Map(entries.map(([key, value]) => [key, trimValue(value, limit)]))
}

function trimValue(value: unknown, limit: number): unknown {
  if (isMapping(value)) return trimMap(value, limit)
  return sizeOf(value) > limit ? REPLACEMENT : value
}

/** Replace whole values of the top level, for nested maps that are too large because of many small values. */
function trimWholeValues(data: Record<string, unknown>, limit: number): Map<string, unknown> {
  return new Map(
    Object.entries(data).map(([key, value]) => [key, sizeOf(value) > limit ? REPLACEMENT : value]),
  )
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (value instanceof Uint8Array) return value.length
  return typeof value === 'object' && value !== null ? encodeLocal(value).length : 9
}
