/**
 * Bytes of a decoded value. The network dialect does not tell text from bytes (wire protocol §1): a ciphertext that
 * happens to be valid UTF-8 arrives as text, so every field that holds bytes is read through here.
 */
export function asBytes(value: unknown): Buffer | undefined {
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return undefined
}

/** True for a decoded map with text keys. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  return Object.getPrototypeOf(value) === Object.prototype
}

/** A number, also one that arrived as an integral float; undefined for anything else. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return value instanceof Number ? Number(value) : undefined
}

/** Text of bounded length, or undefined. */
export function asText(value: unknown, maxLength = 4096): string | undefined {
  return typeof value === 'string' && value.length <= maxLength ? value : undefined
}
