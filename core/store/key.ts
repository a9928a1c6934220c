import { SaltError } from '../base/errors.ts'

/**
 * The key of a record. Parts are compared one after the other: numbers precede text, and text is ordered by its UTF-8
 * bytes.
 */
export type StoreKey = readonly (string | number)[]

/** A half-open range: from `from` up to, but without, `to`. */
export interface KeyRange {
  readonly from: StoreKey
  readonly to: StoreKey
}

/** Text that is greater than every text allowed as a part. */
const HIGHEST = '\u{10ffff}'
/** LMDB allows 1978 bytes; the rest is for the separators of the parts. */
const MAX_KEY_BYTES = 1900

/** Return the range of all keys that begin with these parts. */
export function keysUnder(...prefix: StoreKey): KeyRange {
  return { from: prefix, to: [...prefix, HIGHEST] }
}

/** Return the range of all keys that begin with these parts, followed by a text that begins with `start`. */
export function startingWith(prefix: StoreKey, start: string): KeyRange {
  return { from: [...prefix, start], to: [...prefix, start + HIGHEST] }
}

/** Check a key. @throws SaltError INVALID_ARGUMENTS if the store does not support it */
export function checkKey(key: StoreKey): void {
  const texts = key.filter((part) => typeof part === 'string')
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes <= MAX_KEY_BYTES && !texts.some((text) => text.includes('\0') || text.includes(HIGHEST))) return
  throw new SaltError(
    'INVALID_ARGUMENTS',
    `A key of ${bytes} bytes cannot be stored: it must have at most ${MAX_KEY_BYTES} bytes and no NUL character.`,
  )
}
