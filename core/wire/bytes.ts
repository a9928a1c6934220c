/**
 * Return the bytes of a decoded value; undefined if it is neither text nor bytes. The network dialect does not distinguish
 * these (wire protocol §1): a ciphertext that happens to be valid UTF-8 is decoded as text, so every field with bytes must
 * be read with this function.
 */
export function asBytes(value: unknown): Buffer | undefined {
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return undefined
}

/** Return a number, also from a float with a whole value; undefined for anything else. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return value instanceof Number ? Number(value) : undefined
}

/** Return a text of limited length; undefined for anything else. */
export function asText(value: unknown, maxLength = 4096): string | undefined {
  return typeof value === 'string' && value.length <= maxLength ? value : undefined
}
