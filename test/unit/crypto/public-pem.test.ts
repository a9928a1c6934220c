import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPublic } from '../../../core/crypto/pem.ts'
import { SLOW } from '../../harness/slow.ts'

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const FORMS = [
  { type: 'spki', label: 'PUBLIC KEY' },
  { type: 'pkcs1', label: 'RSA PUBLIC KEY' },
] as const

const pemOf = (der: Buffer, label: string) =>
  [
    `-----BEGIN ${label}-----`,
    ...(der.toString('base64').match(/.{1,64}/g) ?? []),
    `-----END ${label}-----`,
  ].join('\n')

const numbersOf = (read: () => KeyObject) => {
  try {
    return read().export({ format: 'jwk' })
  } catch {
    return undefined
  }
}

test.each(FORMS)('a public key in PEM text ($label) is read', ({ type, label }) => {
  const pem = pemOf(publicKey.export({ type, format: 'der' }), label)
  expect(numbersOf(() => readPublic(pem))).toEqual(publicKey.export({ format: 'jwk' }))
})

test.each(FORMS)(
  'a damaged PEM text ($label) is never read as another key than OpenSSL reads',
  SLOW,
  ({ type, label }) => {
    const der = publicKey.export({ type, format: 'der' })
    const heads = fc.record({ at: fc.integer({ min: 0, max: 40 }), byte: fc.integer({ min: 0, max: 255 }) })
    const damaged = fc.oneof(
      heads.map(({ at, byte }) => Buffer.from(der.map((old, index) => (index === at ? byte : old)))),
      fc.uint8Array({ minLength: 1, maxLength: 4 }).map((more) => Buffer.concat([der, more])),
      fc.integer({ min: 1, max: 5 }).map((less) => der.subarray(0, -less)),
    )
    fc.assert(
      fc.property(damaged, (bytes) => {
        const pem = pemOf(bytes, label)
        const found = numbersOf(() => readPublic(pem))
        if (found) expect(found).toEqual(numbersOf(() => createPublicKey(pem)))
      }),
      { numRuns: 1000 },
    )
  },
)
