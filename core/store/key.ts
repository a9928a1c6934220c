import { SaltError } from '../base/errors.ts'

/** A record's key: parts are compared one after the other, numbers before text, text by its UTF-8 bytes. */
export type StoreKey = readonly (string | number)[]

/** Half-open: from `from` up to, and without, `to`. */
export interface KeyRange {
  readonly from: StoreKey
  readonly to: StoreKey
}

/** Greater than every text that is allowed as a part. */
const HIGHEST = '\u{10ffff}'
/** LMDB takes 1978 bytes; the rest is for the marks between the parts. */
const MAX_BYTES = 1900

/** All keys that begin with these parts. */
export function under(...prefix: StoreKey): KeyRange {
  return { from: prefix, to: [...prefix, HIGHEST] }
}

/** All keys that begin with these parts, and then a text that begins with `start`. */
export function textsFrom(prefix: StoreKey, start: string): KeyRange {
  return { from: [...prefix, start], to: [...prefix, start + HIGHEST] }
}

/** @throws SaltError INVALID_ARGUMENTS for a key the store cannot hold. */
export function checkKey(key: StoreKey): void {
  const texts = key.filter((part) => typeof part === 'string')
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes <= MAX_BYTES && !texts.some((text) => text.includes('\0') || text.includes(HIGHEST))) return
  throw new SaltError(
    'INVALID_ARGUMENTS',
    `A key of ${bytes} bytes cannot be stored: it must have at most ${MAX_BYTES} bytes and no NUL character.`,
  )
}
