import {
  constants,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  publicDecrypt,
  publicEncrypt,
  verify,
} from 'node:crypto'
import { normalisePem } from '../base/fingerprint.ts'
import { type EncryptionAlgorithm, encryptionHash, type SigningAlgorithm, signingHash } from './algorithms.ts'
import { readPublic } from './pem.ts'
import { toInteger, unpad, withTrailer } from './x931.ts'

/** The RSA public key of a peer (§2). */
export class PublicKey {
  /** The text it was read from, trimmed, with `\n` line ends and none at the end. */
  readonly pem: string
  /** Modulus, in bytes. */
  readonly size: number
  /** Modulus and exponent, once they were needed. OpenSSL's object takes 5 kB, and is made of these in microseconds. */
  #numbers: JsonWebKey | undefined
  /** What was recovered last: a peer seals the same word for each of its requests. */
  #recovered: { readonly sealed: string; readonly message: string | undefined } | undefined

  /** @throws SaltError KEY_INVALID unless `pem` is one RSA public key of 2048 to 8192 bits. */
  static parse(pem: string): PublicKey {
    const key = readPublic(pem)
    return new PublicKey(normalisePem(pem), key)
  }

  private constructor(pem: string, key: KeyObject) {
    this.pem = pem
    this.size = (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8
  }

  /** Hides a key string or token (well under 190 bytes) from all but the owner of the private key. */
  encrypt(data: Uint8Array, algorithm: EncryptionAlgorithm): Buffer {
    const oaepHash = encryptionHash(algorithm)
    return publicEncrypt({ key: this.#key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, data)
  }

  verify(data: Uint8Array, signature: Uint8Array, algorithm: SigningAlgorithm): boolean {
    const key = { key: this.#key, padding: constants.RSA_PKCS1_PADDING }
    return verify(signingHash(algorithm), data, key, signature)
  }

  /** The message that the owner of the private key sealed (X9.31); undefined if it was not them. */
  recover(sealed: Uint8Array): Buffer | undefined {
    if (sealed.length !== this.size) return undefined
    const text = Buffer.from(sealed).toString('latin1')
    if (this.#recovered?.sealed !== text) {
      this.#recovered = { sealed: text, message: this.#open(sealed)?.toString('latin1') }
    }
    const { message } = this.#recovered
    return message === undefined ? undefined : Buffer.from(message, 'latin1')
  }

  #open(sealed: Uint8Array): Buffer | undefined {
    const key = createPublicKey(this.pem) // a master does this once for each minion, and keeps nothing of it
    const modulus = toInteger(Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url'))
    if (toInteger(sealed) >= modulus) return undefined
    const opened = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, sealed)
    return unpad(withTrailer(opened, modulus))
  }

  get #key(): KeyObject {
    this.#numbers ??= createPublicKey(this.pem).export({ format: 'jwk' })
    return createPublicKey({ key: this.#numbers, format: 'jwk' })
  }

  /** Whether it is the same key, however its text is written. */
  equals(other: PublicKey): boolean {
    return this.pem === other.pem || createPublicKey(this.pem).equals(createPublicKey(other.pem))
  }
}
