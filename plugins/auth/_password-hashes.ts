/** The kinds of stored passwords, and the comparison with a password. */
import { createHash } from 'node:crypto'
import { sameText } from './_same-text.ts'

/** Hashes that are slow on purpose. A helper process computes them. */
export type SlowKind = 'bcrypt' | 'md5-crypt' | 'sha-crypt'

/** Salt's names of `^hashtype` and Node's names of the digests. */
const DIGESTS = {
  md5: 'md5',
  sha1: 'sha1',
  sha224: 'sha224',
  sha256: 'sha256',
  sha384: 'sha384',
  sha512: 'sha512',
  blake2b: 'blake2b512',
  blake2s: 'blake2s256',
  sha3_224: 'sha3-224',
  sha3_256: 'sha3-256',
  sha3_384: 'sha3-384',
  sha3_512: 'sha3-512',
} as const

export type HashType = 'plaintext' | keyof typeof DIGESTS
export const HASH_TYPES = ['plaintext', ...Object.keys(DIGESTS)] as readonly HashType[]

const hexDigest = (algorithm: string, text: string): string =>
  createHash(algorithm).update(text).digest('hex')

/** Whether `stored` is the digest of the password, unsalted and in hexadecimal; or, for `plaintext`, the password itself. */
export function isTextOf(password: string, hashType: HashType, stored: string): boolean {
  if (hashType === 'plaintext') return sameText(password, stored)
  return sameText(hexDigest(DIGESTS[hashType], password), stored.toLowerCase())
}

/** Whether `stored` is the entry that `htdigest` writes for the password. */
export const isHtdigestOf = (user: string, realm: string, password: string, stored: string): boolean =>
  sameText(hexDigest('md5', `${user}:${realm}:${password}`), stored.toLowerCase())

/** Whether `stored` is the `{SHA}` entry that `htpasswd -s` writes for the password. */
export const isShaOf = (password: string, stored: string): boolean =>
  sameText(`{SHA}${createHash('sha1').update(password).digest('base64')}`, stored)

export function slowKind(stored: string): SlowKind | undefined {
  if (/^\$2[aby]\$\d\d\$[./\w]{53}$/.test(stored)) return 'bcrypt'
  if (/^\$(?:1|apr1)\$[^$]{0,8}\$[./\w]{22}$/.test(stored)) return 'md5-crypt'
  if (/^\$[56]\$(?:rounds=\d+\$)?[./\w]{0,16}\$[./\w]{43,86}$/.test(stored)) return 'sha-crypt'
  return undefined
}

/** Estimate the cost of a comparison, in rounds of MD5-crypt. */
export function costOf(stored: string): number {
  switch (slowKind(stored)) {
    case 'bcrypt':
      return 2 ** Number(stored.slice(4, 6)) * 30
    case 'sha-crypt':
      return Number(/^\$.\$rounds=(\d+)/.exec(stored)?.[1] ?? 5000) * 2
    case 'md5-crypt':
      return 1000
    default:
      return 0
  }
}
