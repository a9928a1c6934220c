import { createPublicKey, randomBytes } from 'node:crypto'

/**
 * The PEM text of a public key that nobody has the private key of: a random modulus. Made in no time, and as good as
 * any other where keys are only told apart.
 */
export function randomPem(): string {
  const modulus = randomBytes(256)
  modulus[0] = (modulus[0] ?? 0) | 0x80
  modulus[255] = (modulus[255] ?? 0) | 1
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' }
  return createPublicKey({ key: jwk, format: 'jwk' })
    .export({ type: 'spki', format: 'pem' })
    .toString()
    .trim()
}
