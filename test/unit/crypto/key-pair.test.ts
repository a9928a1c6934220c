import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { PrivateKey, PublicKey } from '../../../core/crypto/index.ts'
import { SLOW } from '../../harness/slow.ts'

let pair: PrivateKey
let other: PrivateKey

beforeAll(async () => {
  ;[pair, other] = await Promise.all([PrivateKey.generate(2048), PrivateKey.generate(2048)])
})

describe('a key pair', () => {
  test('is made with the exponent 65537 in the form that Salt writes', () => {
    expect(pair.pem).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\n[^-]+\n-----END RSA PRIVATE KEY-----$/)
    expect(pair.publicKey.pem).toMatch(/^-----BEGIN PUBLIC KEY-----\n[^-]+\n-----END PUBLIC KEY-----$/)
    expect(pair.publicKey.size).toBe(256)
  })

  test.each([1024, 2047, 2050, 16_384, Number.NaN])('is not made with %d bits', async (bits) => {
    await expect(PrivateKey.generate(bits)).rejects.toMatchObject({ code: 'KEY_INVALID' })
  })

  test('is the same after it was written and parsed', () => {
    const copy = PrivateKey.parse(pair.pem)
    expect(copy.publicKey.equals(pair.publicKey)).toBe(true)
    expect(copy.pem).toBe(pair.pem)
  })

  test('shows nothing of its private key when it is logged', () => {
    const shown = inspect(pair, { depth: 9, showHidden: true }) + JSON.stringify(pair)
    expect(shown).not.toContain('PRIVATE')
    expect(shown).not.toContain(pair.pem.slice(40, 60))
  })

  test.each(['OAEP-SHA1', 'OAEP-SHA224'] as const)(
    'decrypts messages for it with %s, and no others',
    (algorithm) => {
      const secret = Buffer.from('a key string')
      const sealed = pair.publicKey.encrypt(secret, algorithm)
      expect(pair.decrypt(sealed, algorithm)).toEqual(secret)
      expect(other.decrypt(sealed, algorithm)).toBeUndefined()
      expect(pair.decrypt(sealed.subarray(0, -1), algorithm)).toBeUndefined()
      expect(pair.decrypt(Buffer.alloc(0), algorithm)).toBeUndefined()
    },
  )

  test.each(['PKCS1v15-SHA1', 'PKCS1v15-SHA224'] as const)(
    'signs with %s so that only its public key verifies',
    (algorithm) => {
      const data = Buffer.from('a load')
      const signature = pair.sign(data, algorithm)
      expect(pair.publicKey.verify(data, signature, algorithm)).toBe(true)
      expect(other.publicKey.verify(data, signature, algorithm)).toBe(false)
      expect(pair.publicKey.verify(Buffer.from('a loaf'), signature, algorithm)).toBe(false)
    },
  )

  test('handles any signature, seal or ciphertext without an exception', () => {
    const sizes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ minLength: 256, maxLength: 256 }),
    )
    fc.assert(
      fc.property(sizes, (bytes) => {
        expect(pair.publicKey.verify(Buffer.from('x'), bytes, 'PKCS1v15-SHA1')).toBe(false)
        expect(pair.publicKey.recover(bytes)).toBeUndefined()
        expect(pair.decrypt(bytes, 'OAEP-SHA1')).toBeUndefined()
      }),
      { numRuns: 50 },
    )
  })
})

describe('a sealed message', () => {
  test.each([1, 4, 64, 252, 253, 254])('of %d bytes is recovered by the public key only', (size) => {
    const message = Buffer.alloc(size, 0xba)
    const sealed = pair.seal(message)
    expect(sealed).toHaveLength(256)
    expect(pair.publicKey.recover(sealed)).toEqual(message)
    expect(other.publicKey.recover(sealed)).toBeUndefined()
  })

  test.each([0, 255, 1000])('cannot have %d bytes', (size) => {
    expect(() => pair.seal(Buffer.alloc(size))).toThrow(RangeError)
  })

  test('is the same each time, and keeps leading zeros', SLOW, () => {
    const messages = Array.from({ length: 300 }, (_, i) => Buffer.from([0, i >> 8, i & 0xff]))
    for (const message of messages) expect(pair.publicKey.recover(pair.seal(message))).toEqual(message)
    expect(pair.seal(Buffer.from('salt'))).toEqual(pair.seal(Buffer.from('salt')))
  })

  test('is also recovered from its other form, n - s', () => {
    const s = BigInt(`0x${pair.seal(Buffer.from('salt')).toString('hex')}`)
    const larger = (modulusOf(pair.publicKey) - s).toString(16).padStart(512, '0')
    expect(pair.publicKey.recover(Buffer.from(larger, 'hex'))?.toString()).toBe('salt')
  })

  test.each([
    ['zeros', Buffer.alloc(256)],
    ['ones', Buffer.alloc(256, 0xff)],
    ['the number one', Buffer.from('1'.padStart(512, '0'), 'hex')],
    ['nothing', Buffer.alloc(0)],
  ])('is not found in %s', (_, bytes) => {
    expect(pair.publicKey.recover(bytes)).toBeUndefined()
  })
})

describe('the text of a key', () => {
  test('is normalised', () => {
    const { pem } = pair.publicKey
    for (const text of [
      `${pem}\n`,
      `\n  ${pem}  \n`,
      pem.replaceAll('\n', '\r\n'),
      pem.replaceAll('\n', '\r'),
    ]) {
      expect(PublicKey.parse(text).pem).toBe(pem)
    }
  })

  test('may be PKCS#1, and is the same key', () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const spki = PublicKey.parse(publicKey.export({ type: 'spki', format: 'pem' }).toString())
    const pkcs1 = PublicKey.parse(publicKey.export({ type: 'pkcs1', format: 'pem' }).toString())
    expect(pkcs1.pem).toContain('RSA PUBLIC KEY')
    expect(pkcs1.equals(spki)).toBe(true)
    expect(pkcs1.equals(pair.publicKey)).toBe(false)
  })

  test('of a private key may be PKCS#8', SLOW, () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const key = PrivateKey.parse(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
    expect(key.publicKey.recover(key.seal(Buffer.from('salt')))?.toString()).toBe('salt')
  })

  test.each([
    ['nothing', () => ''],
    ['words', () => 'hello'],
    ['a header alone', () => '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----'],
    ['damaged base64', () => pair.publicKey.pem.replace(/\n.{9}/, '\nAAAAAAAAA')],
    ['a private key', () => pair.pem],
    ['two keys', () => `${pair.publicKey.pem}\n${other.publicKey.pem}`],
    ['a megabyte', () => `-----BEGIN PUBLIC KEY-----\n${'A'.repeat(1 << 20)}\n-----END PUBLIC KEY-----`],
    ['no text at all', () => 5 as unknown as string],
    ['1024 bits', () => rsaPem({ modulusLength: 1024 })],
    ['the exponent 3', () => rsaPem({ modulusLength: 2048, publicExponent: 3 })],
    ['an elliptic curve', () => spkiPem(generateKeyPairSync('ed25519').publicKey)],
  ])('is refused as public key if it is %s', (_, text) => {
    expect(() => PublicKey.parse(text())).toThrowError(expect.objectContaining({ code: 'KEY_INVALID' }))
  })

  test.each([
    ['a public key', () => pair.publicKey.pem],
    ['an encrypted key', encryptedPem],
    ['damaged', () => pair.pem.replace(/\n.{9}/, '\nAAAAAAAAA')],
  ])('is refused as private key if it is %s, without being repeated', SLOW, (_, text) => {
    expect(() => PrivateKey.parse(text())).toThrowError(expect.objectContaining({ code: 'KEY_INVALID' }))
    expect(() => PrivateKey.parse(text())).not.toThrow(text().slice(40, 60))
  })
})

function modulusOf({ pem }: PublicKey): bigint {
  const { n = '' } = createPublicKey(pem).export({ format: 'jwk' })
  return BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`)
}

function rsaPem(options: { modulusLength: number; publicExponent?: number }): string {
  return spkiPem(generateKeyPairSync('rsa', options).publicKey)
}

function spkiPem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString()
}

function encryptedPem(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString()
}
