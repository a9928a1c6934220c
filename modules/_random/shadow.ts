/** Password hashes as in /etc/shadow, computed as the C library's `crypt` does. */
import { createHash, randomInt } from 'node:crypto'

const ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SALT_LENGTH = 16
const ROUNDS = 5000
const FEWEST_ROUNDS = 1000
const MOST_ROUNDS = 999_999_999

type Algorithm = 'sha512' | 'sha256' | 'md5'

export const algorithms: readonly string[] = ['sha512', 'sha256', 'md5'] satisfies Algorithm[]

/** Return a salt of random characters. */
export const randomSalt = (): string =>
  Array.from({ length: SALT_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

/** Hash a password. The salt may begin with `rounds=N$`, except for MD5, and ends at the first `$`. */
export function shadowHash(password: string, salt: string, algorithm: string): string {
  return algorithm === 'md5' ? md5Crypt(password, salt) : shaCrypt(password, salt, algorithm)
}

function shaCrypt(password: string, given: string, algorithm: string): string {
  const [, asked, rest = ''] = /^(?:rounds=(\d+)\$)?([^$]*)/.exec(given) ?? []
  const salt = Buffer.from(rest).subarray(0, SALT_LENGTH)
  const rounds = asked === undefined ? ROUNDS : Math.min(Math.max(Number(asked), FEWEST_ROUNDS), MOST_ROUNDS)
  const hash = (...parts: Buffer[]) => createHash(algorithm).update(Buffer.concat(parts)).digest()
  const key = Buffer.from(password)
  let digest = firstDigest(key, salt, hash)
  const keyBytes = repeated(hash(...Array.from({ length: key.length }, () => key)), key.length)
  const saltBytes = repeated(
    hash(...Array.from({ length: 16 + (digest[0] as number) }, () => salt)),
    salt.length,
  )
  for (let round = 0; round < rounds; round++) {
    digest = hash(
      round % 2 ? keyBytes : digest,
      ...(round % 3 ? [saltBytes] : []),
      ...(round % 7 ? [keyBytes] : []),
      round % 2 ? digest : keyBytes,
    )
  }
  const number = algorithm === 'sha512' ? 6 : 5
  const shown = asked === undefined ? '' : `rounds=${rounds}$`
  return `$${number}$${shown}${salt}$${algorithm === 'sha512' ? sha512Text(digest) : sha256Text(digest)}`
}

function firstDigest(key: Buffer, salt: Buffer, hash: (...parts: Buffer[]) => Buffer): Buffer {
  const other = hash(key, salt, key)
  const parts = [key, salt, repeated(other, key.length)]
  for (let length = key.length; length > 0; length >>= 1) parts.push(length & 1 ? other : key)
  return hash(...parts)
}

/** Return bytes, repeated and cut to a length. */
const repeated = (bytes: Buffer, length: number): Buffer => Buffer.alloc(length, bytes)

function md5Crypt(password: string, given: string): string {
  const salt = Buffer.from(given.split('$')[0] as string).subarray(0, 8)
  const key = Buffer.from(password)
  const hash = (...parts: Buffer[]) => createHash('md5').update(Buffer.concat(parts)).digest()
  const parts = [key, Buffer.from('$1$'), salt, repeated(hash(key, salt, key), key.length)]
  for (let length = key.length; length > 0; length >>= 1)
    parts.push(length & 1 ? Buffer.alloc(1) : key.subarray(0, 1))
  let digest = hash(...parts)
  for (let round = 0; round < 1000; round++) {
    digest = hash(
      round % 2 ? key : digest,
      ...(round % 3 ? [salt] : []),
      ...(round % 7 ? [key] : []),
      round % 2 ? digest : key,
    )
  }
  return `$1$${salt}$${md5Text(digest)}`
}

/** Write bytes in `crypt`'s base64: the lowest 6 bits first. */
function characters(digest: Buffer, at: readonly number[], count: number): string {
  let value = at.reduce((high, index) => high * 256 + (index < 0 ? 0 : (digest[index] as number)), 0)
  let text = ''
  for (let left = count; left > 0; left--, value >>>= 6) text += ALPHABET[value & 63]
  return text
}

/** Each group of three bytes begins at another of the three thirds of the digest. */
function sha512Text(digest: Buffer): string {
  const groups = Array.from({ length: 21 }, (_, at) => turned([at, at + 21, at + 42], at % 3))
  return groups.map((group) => characters(digest, group, 4)).join('') + characters(digest, [-1, -1, 63], 2)
}

function sha256Text(digest: Buffer): string {
  const groups = Array.from({ length: 10 }, (_, at) => turned([at, at + 10, at + 20], (3 - (at % 3)) % 3))
  return groups.map((group) => characters(digest, group, 4)).join('') + characters(digest, [-1, 31, 30], 3)
}

function md5Text(digest: Buffer): string {
  const groups = [0, 1, 2, 3, 4].map((at) => [at, at + 6, at === 4 ? 5 : at + 12])
  return groups.map((group) => characters(digest, group, 4)).join('') + characters(digest, [-1, -1, 11], 2)
}

const turned = (values: readonly number[], by: number): number[] => [
  ...values.slice(by),
  ...values.slice(0, by),
]
