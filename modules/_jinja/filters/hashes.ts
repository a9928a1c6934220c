/** The filters that Salt adds for bytes, hashes and random texts. */
import { createHash, createHmac, getHashes, randomBytes } from 'node:crypto'
import type { Filter } from '../environment.ts'
import { TemplateError } from '../errors.ts'
import { bind, REQUIRED, withoutArguments } from '../values/arguments.ts'
import { checkLength } from '../values/limits.ts'
import { integer } from '../values/numbers.ts'
import { type CallArguments, typeOf, Undefined } from '../values/objects.ts'
import { strictText, text } from '../values/text.ts'
import { encoded } from '../values/text-methods.ts'
import { onText } from './on-text.ts'

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string') return Buffer.from(value)
  if (value instanceof Undefined) return value.use()
  throw new TemplateError(`expected str, bytes, or bytearray not <class '${typeOf(value)}'>`)
}

const hash = (name: string): Filter =>
  withoutArguments((value) => createHash(name).update(bytesOf(value)).digest('hex'))

export const hashFilters: Readonly<Record<string, Filter>> = {
  uuid: withoutArguments((value) => uuid5(bytesOf(value))),
  to_bytes(value, given) {
    const { encoding } = bind({ encoding: null, errors: 'strict' }, given)
    return encoding !== null && typeof value === 'string'
      ? encoded(value, strictText(encoding))
      : Buffer.from(bytesOf(value))
  },
  base64_encode: withoutArguments((value) => Buffer.from(bytesOf(value)).toString('base64')),
  base64_decode: onText((shown) => Buffer.from(shown, 'base64').toString()),
  md5: hash('md5'),
  sha1: hash('sha1'),
  sha256: hash('sha256'),
  sha512: hash('sha512'),
  hmac(value, given) {
    const { shared_secret, challenge_hmac } = bind(
      { shared_secret: REQUIRED, challenge_hmac: REQUIRED },
      given,
    )
    const made = createHmac('sha256', bytesOf(shared_secret)).update(bytesOf(value)).digest('base64')
    return made === text(challenge_hmac)
  },
  hmac_compute(value, given) {
    const { shared_secret } = bind({ shared_secret: REQUIRED }, given)
    return createHmac('sha256', bytesOf(shared_secret)).update(bytesOf(value)).digest('hex')
  },
  random_str: withoutArguments((value) => {
    const size = checkLength(integer(value))
    if (size < 0) throw new TemplateError('random_str takes a length of at least 0')
    return randomBytes(size).toString('base64').slice(0, size)
  }),
  random_hash: randomHash,
  rand_str: randomHash,
}

/** The name space of Salt's `uuid` filter. */
const NAMESPACE = Buffer.from('91633ebf1c865e33935a28061f4b480e', 'hex')

/** A UUID of version 5 (RFC 9562, 5.5). */
function uuid5(name: Uint8Array): string {
  const digest = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16)
  digest[6] = ((digest[6] as number) & 0x0f) | 0x50
  digest[8] = ((digest[8] as number) & 0x3f) | 0x80
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The hash of a random number up to the value. */
function randomHash(value: unknown, given: CallArguments): string {
  const { hash_type } = bind({ hash_type: null }, given)
  integer(value)
  const type = text(hash_type ?? 'md5')
  if (!getHashes().includes(type)) throw new TemplateError(`unsupported hash type ${type}`)
  return createHash(type).update(randomBytes(64)).digest('hex')
}
