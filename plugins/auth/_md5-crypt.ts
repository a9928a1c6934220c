/** MD5-crypt, in the variants of `crypt(3)` ($1$) and Apache ($apr1$). */
import { createHash } from 'node:crypto'

const LETTERS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Indices of the digest's bytes that make four letters; the last byte has the lowest bits. */
const ORDER = [
  [0, 6, 12],
  [1, 7, 13],
  [2, 8, 14],
  [3, 9, 15],
  [4, 10, 5],
] as const
const ROUNDS = 1000

const md5 = (...parts: readonly (Buffer | string)[]): Buffer => {
  const hash = createHash('md5')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Hash a password. `magic` is `$1$` or `$apr1$`; only the first eight characters of the salt count. */
export function md5Crypt(text: string, magic: string, salt: string): string {
  const password = Buffer.from(text)
  const used = salt.slice(0, 8)
  const inner = md5(password, used, password)
  const filled = Buffer.alloc(password.length, inner)
  const bits = password.length.toString(2).split('').reverse()
  const odd = bits.map((bit) => (bit === '1' ? Buffer.alloc(1) : password.subarray(0, 1)))
  let digest = md5(password, magic, used, filled, ...odd)
  for (let round = 0; round < ROUNDS; round++)
    digest = md5(
      round % 2 === 1 ? password : digest,
      round % 3 === 0 ? '' : used,
      round % 7 === 0 ? '' : password,
      round % 2 === 1 ? digest : password,
    )
  return `${magic}${used}$${encoded(digest)}`
}

function encoded(digest: Buffer): string {
  const byte = (index: number): number => digest[index] ?? 0
  const groups = ORDER.map(([a, b, c]) => letters((byte(a) << 16) | (byte(b) << 8) | byte(c), 4))
  return [...groups, letters(byte(11), 2)].join('')
}

const letters = (bits: number, count: number): string =>
  Array.from({ length: count }, (_, n) => LETTERS[(bits >> (6 * n)) & 63]).join('')
