/**
 * Random texts and numbers, and hashes.
 *
 * With a seed, results are those of Python minions: the same seed gives the same number on both.
 */
import { createHash, randomInt } from 'node:crypto'
import { CommandExecutionError, fn, p, SaltInvocationError } from 'salt-ts'
import { hashName } from './_hashutil/hash-name.ts'
import { MersenneTwister, seedOf } from './_random/mersenne-twister.ts'
import { algorithms, randomSalt, shadowHash } from './_random/shadow.ts'
import { textOnly } from './_values/text-only.ts'

/** The name under which users call it. */
export const virtualName = 'random'

const LOWERCASE = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
const WHITESPACE = ' \t\n\r\v\f'
/** `randomInt` gives no larger range. */
const LARGEST_RANGE = 2 ** 48 - 1

const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const classes = {
  lowercase: flag(true),
  uppercase: flag(true),
  digits: flag(true),
  punctuation: flag(true),
  whitespace: flag(false),
  printable: flag(false),
}
/** A text is the list of its characters. */
const population = p.refine(
  p.any({ description: 'A list, or a text.' }),
  (value) => Array.isArray(value) || typeof value === 'string',
  'must be a list or a text',
)
const seedParam = p.optional(p.any({ description: 'Text or an integer.' }))

/**
 * Return the digest of a text, in hexadecimal.
 *
 * @example salt '*' random.hash 'I am a string' md5
 */
export const hash = fn(
  { value: textOnly(), algorithm: p.default(p.string(), 'sha512') },
  ({ value, algorithm }) => {
    const name = hashName(algorithm)
    if (name === undefined) throw new CommandExecutionError('You must specify a valid algorithm.')
    return createHash(name).update(value).digest('hex')
  },
)

/**
 * Encode a text. The only encoder is base64.
 *
 * @example salt '*' random.str_encode 'I am a new string' base64
 */
export const str_encode = fn(
  { value: textOnly(), encoder: p.default(p.string(), 'base64') },
  ({ value, encoder }) => {
    if (encoder !== 'base64') throw new SaltInvocationError('You must specify a valid encoder')
    return Buffer.from(value).toString('base64')
  },
)

/**
 * Return a random text, such as a password, of `chars` or else of the classes of characters that are switched on;
 * `printable` stands for all of them.
 *
 * @example salt '*' random.get_str 128
 * @example salt '*' random.get_str 128 chars='abc123.!()'
 * @example salt '*' random.get_str 128 lowercase=False whitespace=True
 */
export const get_str = fn(
  {
    length: p.default(p.integer({ maximum: 1_000_000 }), 20),
    chars: p.optional(p.string()),
    ...classes,
  },
  ({ length, chars, ...wanted }) => randomText(length, chars || charactersOf(wanted)),
)

/**
 * Hash a password for /etc/shadow. Without `crypt_salt` a random salt is used, without `password` a random password,
 * which then nobody knows. `algorithm` is sha512, sha256 or md5.
 *
 * @example salt '*' random.shadow_hash 'My5alT' 'MyP@asswd' md5
 * @example salt '*' random.shadow_hash password='MyP@asswd'
 */
export const shadow_hash = fn(
  {
    crypt_salt: p.optional(p.string()),
    password: p.secret(p.optional(p.string())),
    algorithm: p.default(p.string(), 'sha512'),
  },
  ({ crypt_salt, password, algorithm }) => {
    if (!algorithms.includes(algorithm)) {
      const known = algorithms.map((name) => `'${name}'`).join(', ')
      throw new SaltInvocationError(
        `Cannot hash using '${algorithm}' hash algorithm. Natively supported algorithms are: [${known}].`,
      )
    }
    return shadowHash(password ?? randomText(20, charactersOf(USUAL)), crypt_salt ?? randomSalt(), algorithm)
  },
)

/**
 * Return a random integer from `start` to `end`, both included. The same seed gives the same integer.
 *
 * @example salt '*' random.rand_int 1 10
 * @example salt '*' random.rand_int 1 10 seed=web1
 */
export const rand_int = fn(
  { start: p.default(p.integer(), 1), end: p.default(p.integer(), 10), seed: seedParam },
  ({ start, end, seed }) => {
    const range = end - start + 1
    if (range < 1) throw new CommandExecutionError(`The range is empty: ${start} is more than ${end}.`)
    return start + (seed === undefined || seed === null ? randomBelow(range) : seeded(seed).below(range))
  },
)

/**
 * Return an integer from 0 to `range - 1` that depends only on `hash`, by default on the id of the minion: for instance the
 * minute of a job that not all minions shall begin at once.
 *
 * @example salt '*' random.seed 60
 * @example salt '*' random.seed 10 hash=web1
 */
export const seed = fn(
  { range: p.default(p.integer({ minimum: 1 }), 10), hash: seedParam },
  ({ range, hash }, { grains, id }) => seeded(hash ?? grains.id ?? id).below(range),
)

/**
 * Return some members of a list, each at most once, in random order.
 *
 * @example salt '*' random.sample '["one", "two"]' 1 seed="something"
 */
export const sample = fn({ value: population, size: p.integer(), seed: seedParam }, ({ value, size, seed }) =>
  sampleOf(value, size, seed),
)

/**
 * Return the members of a list in random order.
 *
 * @example salt '*' random.shuffle '["one", "two"]' seed="something"
 */
export const shuffle = fn({ value: population, seed: seedParam }, ({ value, seed }) =>
  sampleOf(value, undefined, seed),
)

type Classes = Readonly<Record<keyof typeof classes, boolean>>

const USUAL: Classes = {
  lowercase: true,
  uppercase: true,
  digits: true,
  punctuation: true,
  whitespace: false,
  printable: false,
}

function charactersOf(wanted: Classes): string {
  const chosen = (name: keyof Classes, text: string) => (wanted.printable || wanted[name] ? text : '')
  const all = [
    chosen('lowercase', LOWERCASE),
    chosen('uppercase', LOWERCASE.toUpperCase()),
    chosen('digits', DIGITS),
    chosen('punctuation', PUNCTUATION),
    chosen('whitespace', WHITESPACE),
  ].join('')
  if (all === '') throw new CommandExecutionError('All classes of characters are switched off.')
  return all
}

function randomText(length: number, characters: string): string {
  const choice = [...new Set(characters)]
  return Array.from({ length: Math.max(length, 0) }, () => choice[randomInt(choice.length)]).join('')
}

function randomBelow(limit: number): number {
  if (limit > LARGEST_RANGE)
    throw new CommandExecutionError(`The range has more than ${LARGEST_RANGE} integers; give a seed.`)
  return randomInt(limit)
}

const seeded = (seed: unknown) => new MersenneTwister(seedOf(seed))

function sampleOf(value: unknown, wanted: number | undefined, seed: unknown): unknown[] {
  const members = typeof value === 'string' ? Array.from(value) : (value as readonly unknown[])
  const size = wanted ?? members.length
  if (size < 0 || size > members.length)
    throw new CommandExecutionError('Sample larger than population or is negative')
  const first =
    seed === undefined || seed === null
      ? BigInt(randomBelow(LARGEST_RANGE))
      : createHash('sha512').update(String(seed)).digest('hex')
  return new MersenneTwister(first).sample(members, size)
}
