/** Password hashes of /etc/shadow, as crypt(3) makes them: SHA-crypt (`$5$`, `$6$`) and MD5-crypt (`$1$`). */
import { createHash, randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { SaltInvocationError } from 'salt-ts'

const ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_SALT_LENGTH = 16

const SHA = {
  sha512: { prefix: '$6$', order: shaOrder(21, 1), last: [63] },
  sha256: { prefix: '$5$', order: shaOrder(10, 2), last: [31, 30] },
} as const
type ShaName = keyof typeof SHA

const DEFAULT_ROUNDS = 5000
const MIN_ROUNDS = 1000
const MAX_ROUNDS = 999_999_999
/** A hash with very many rounds lets other work in between, and ends with its job. */
const ROUNDS_AT_ONCE = 10_000

/** Hash a password. The salt may begin with a number of rounds: `rounds=10000$salt`; by default it is random. */
export async function hashPassword(
  password: string,
  salt: string | undefined,
  algorithm: string,
  signal: AbortSignal,
): Promise<string> {
  const chosen = salt ?? randomSalt(algorithm)
  if (/[:\n\0]/.test(chosen)) {
    throw new SaltInvocationError('The salt must not contain a colon or a line break')
  }
  if (algorithm === 'md5') return md5Crypt(Buffer.from(password), chosen)
  if (algorithm === 'sha512' || algorithm === 'sha256')
    return shaCrypt(algorithm, Buffer.from(password), chosen, signal)
  throw new SaltInvocationError(
    `Cannot hash using '${algorithm}' hash algorithm. The supported algorithms are: sha512, sha256, md5.`,
  )
}

const randomSalt = (algorithm: string): string =>
  [...randomBytes(algorithm === 'md5' ? 8 : RANDOM_SALT_LENGTH)].map((byte) => ALPHABET[byte & 63]).join('')

async function shaCrypt(
  name: ShaName,
  password: Buffer,
  setting: string,
  signal: AbortSignal,
): Promise<string> {
  const { prefix, order, last } = SHA[name]
  const { rounds, shown, saltText } = parseSetting(setting)
  const salt = Buffer.from(saltText)
  const hash = (...parts: Buffer[]) => createHash(name).update(Buffer.concat(parts)).digest()
  const mixed = hash(password, salt, password)
  const first = hash(
    password,
    salt,
    repeated(mixed, password.length),
    ...bitsOf(password.length).map((bit) => (bit ? mixed : password)),
  )
  const P = repeated(hash(...copies(password, password.length)), password.length)
  const S = repeated(hash(...copies(salt, 16 + first[0]!)), salt.length)
  let digest = first
  for (let round = 0; round < rounds; round++) {
    const odd = round % 2 === 1
    const middle = [...(round % 3 ? [S] : []), ...(round % 7 ? [P] : [])]
    digest = hash(odd ? P : digest, ...middle, odd ? digest : P)
    if (round % ROUNDS_AT_ONCE === ROUNDS_AT_ONCE - 1) await setImmediate(undefined, { signal })
  }
  return `${prefix}${shown}${saltText}$${encode(digest, order)}${encode(digest, [last])}`
}

function parseSetting(setting: string): { rounds: number; shown: string; saltText: string } {
  const [, given, rest = ''] = /^(?:rounds=(\d+)\$)?(.*)$/s.exec(setting) ?? []
  const saltText = rest.split('$')[0]!.slice(0, 16)
  if (given === undefined) return { rounds: DEFAULT_ROUNDS, shown: '', saltText }
  const rounds = Math.min(Math.max(Number(given), MIN_ROUNDS), MAX_ROUNDS)
  return { rounds, shown: `rounds=${rounds}$`, saltText }
}

function md5Crypt(password: Buffer, setting: string): string {
  const saltText = setting.split('$')[0]!.slice(0, 8)
  const salt = Buffer.from(saltText)
  const hash = (...parts: Buffer[]) => createHash('md5').update(Buffer.concat(parts)).digest()
  const mixed = hash(password, salt, password)
  let digest = hash(
    password,
    Buffer.from('$1$'),
    salt,
    repeated(mixed, password.length),
    ...bitsOf(password.length).map((bit) => (bit ? Buffer.alloc(1) : password.subarray(0, 1))),
  )
  for (let round = 0; round < 1000; round++) {
    const odd = round % 2 === 1
    const middle = [...(round % 3 ? [salt] : []), ...(round % 7 ? [password] : [])]
    digest = hash(odd ? password : digest, ...middle, odd ? digest : password)
  }
  const order = [
    [0, 6, 12],
    [1, 7, 13],
    [2, 8, 14],
    [3, 9, 15],
    [4, 10, 5],
  ]
  return `$1$${saltText}$${encode(digest, order)}${encode(digest, [[11]])}`
}

const copies = (bytes: Buffer, count: number): Buffer[] => Array<Buffer>(count).fill(bytes)

/** Repeat bytes up to a length. */
const repeated = (bytes: Buffer, length: number): Buffer =>
  length === 0 ? Buffer.alloc(0) : Buffer.alloc(length, bytes)

/** The bits of a length, from the lowest one. */
function bitsOf(length: number): boolean[] {
  return length === 0 ? [] : [...length.toString(2)].reverse().map((bit) => bit === '1')
}

/** The order in which SHA-crypt writes the bytes of a digest: three at a time, a third of it apart, and turned. */
function shaOrder(third: number, turn: number): number[][] {
  return Array.from({ length: third }, (_, n) => {
    const group = [n, n + third, n + 2 * third]
    const first = (n * turn) % 3
    return [...group.slice(first), ...group.slice(0, first)]
  })
}

// Writes each group of bytes, the first one highest, in base 64 from its lowest six bits.
function encode(digest: Buffer, groups: readonly (readonly number[])[]): string {
  return groups
    .map((group) => {
      let bits = group.reduce((sum, index) => sum * 256 + digest[index]!, 0)
      const length = Math.ceil((group.length * 8) / 6)
      return Array.from({ length }, () => {
        const sign = ALPHABET[bits % 64]
        bits = Math.floor(bits / 64)
        return sign
      }).join('')
    })
    .join('')
}
