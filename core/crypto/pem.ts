import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { SaltError } from '../base/errors.ts'
import { normalisePem } from '../base/fingerprint.ts'

/** The PEM text of a private key of 8192 bits has about 6500 characters. */
const MAX_PEM_CHARACTERS = 16_384
const publicPem = /^-----BEGIN (RSA )?PUBLIC KEY-----\n[A-Za-z0-9+/=\n]+\n-----END (RSA )?PUBLIC KEY-----$/
const privatePem = /^-----BEGIN (RSA )?PRIVATE KEY-----\n[A-Za-z0-9+/=\n]+\n-----END (RSA )?PRIVATE KEY-----$/

/** Read a public key from PEM text. @throws SaltError KEY_INVALID */
export function readPublic(pem: string): KeyObject {
  return read('public', pem, publicPem, (text) => {
    const inner = rsaPublicKeyIn(text)
    return createPublicKey(inner ? { key: inner, format: 'der', type: 'pkcs1' } : text)
  })
}

/** AlgorithmIdentifier of rsaEncryption, without parameters (RFC 3279 §2.3.1). */
const RSA_ENCRYPTION = Buffer.from('300d06092a864886f70d0101010500', 'hex')

/**
 * Return the RSAPublicKey (PKCS #1, DER) that a PEM text holds, directly or in a SubjectPublicKeyInfo; undefined if it is of another
 * form, which OpenSSL then judges. OpenSSL takes 160 µs to find out what a PEM text holds, and 7 to read this.
 */
function rsaPublicKeyIn(pem: string): Buffer | undefined {
  const [head, ...lines] = pem.split('\n')
  const body = lines.slice(0, -1).join('')
  const der = Buffer.from(body, 'base64')
  if (der.toString('base64') !== body) return undefined
  if (head?.includes('RSA')) return der
  // SEQUENCE { AlgorithmIdentifier, BIT STRING without unused bits }; the lengths of such keys have two bytes.
  const bits = 4 + RSA_ENCRYPTION.length
  const key = bits + 5
  const isInfo =
    der.length > key &&
    der.readUInt16BE(0) === 0x3082 &&
    der.readUInt16BE(2) === der.length - 4 &&
    der.subarray(4, bits).equals(RSA_ENCRYPTION) &&
    der.readUInt16BE(bits) === 0x0382 &&
    der.readUInt16BE(bits + 2) === der.length - bits - 4 &&
    der[key - 1] === 0
  return isInfo ? der.subarray(key) : undefined
}

/** Read a private key from PEM text. @throws SaltError KEY_INVALID */
export function readPrivate(pem: string): KeyObject {
  return read('private', pem, privatePem, createPrivateKey)
}

function read(kind: string, pem: string, shape: RegExp, create: (pem: string) => KeyObject): KeyObject {
  if (typeof pem !== 'string' || pem.length > MAX_PEM_CHARACTERS || !shape.test(normalisePem(pem))) {
    throw invalid(`The ${kind} key is not a single unencrypted RSA key in PEM text.`)
  }
  const key = parse(kind, normalisePem(pem), create)
  checkKind(kind, key)
  return key
}

function parse(kind: string, pem: string, create: (pem: string) => KeyObject): KeyObject {
  try {
    return create(pem)
  } catch (cause) {
    throw invalid(`The ${kind} key cannot be read: its PEM text is damaged.`, cause)
  }
}

function checkKind(kind: string, key: KeyObject): void {
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType !== 'rsa') throw invalid(`The ${kind} key is not an RSA key.`)
  checkBits(bits)
  if (exponent < 65_537n || exponent >= 2n ** 32n || exponent % 2n === 0n) {
    throw invalid(`The ${kind} key has the exponent ${exponent}; generate it with 65537.`)
  }
}

/** Check the size of a key. @throws SaltError KEY_INVALID unless it has 2048 to 8192 bits, a multiple of 8. */
export function checkBits(bits: number): void {
  if (bits % 8 === 0 && bits >= 2048 && bits <= 8192) return
  throw invalid(`A key of ${bits} bits is not accepted; use 2048 to 8192 (keysize).`)
}

function invalid(message: string, cause?: unknown): SaltError {
  return new SaltError('KEY_INVALID', message, {}, { cause })
}
