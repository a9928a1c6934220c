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
import { restoreBlock, toInteger, unpad } from './x931.ts'

/** The RSA public key of a peer (wire protocol §2). */
export class PublicKey {
  /** The PEM text it was read from, normalised. */
  readonly pem: string
  /** Size of the modulus, in bytes. */
  readonly size: number
  /** Modulus and exponent. OpenSSL's key object takes 5 kB; it is made from these in 4 µs, and from a PEM text in 90. */
  readonly #numbers: JsonWebKey
  /** The last recovered message: a peer sends the same sealed message with each of its requests. */
  #recovered: { readonly sealed: string; readonly message: string | undefined } | undefined

  /** Read a public key. @throws SaltError KEY_INVALID unless `pem` is one RSA public key of 2048 to 8192 bits. */
  static parse(pem: string): PublicKey {
    const key = readPublic(pem)
    return new PublicKey(normalisePem(pem), key)
  }

  private constructor(pem: string, key: KeyObject) {
    this.pem = pem
    this.#numbers = key.export({ format: 'jwk' })
    this.size = (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8
  }

  /** Encrypt a key or token of less than 190 bytes for the owner of the private key. */
  encrypt(data: Uint8Array, algorithm: EncryptionAlgorithm): Buffer {
    const oaepHash = encryptionHash(algorithm)
    return publicEncrypt({ key: this.#key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, data)
  }

  verify(data: Uint8Array, signature: Uint8Array, algorithm: SigningAlgorithm): boolean {
    const key = { key: this.#key, padding: constants.RSA_PKCS1_PADDING }
    return verify(signingHash(algorithm), data, key, signature)
  }

  /** Return the message that the owner of the private key sealed (X9.31); undefined if another key sealed it. */
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
    const modulus = toInteger(Buffer.from(this.#numbers.n ?? '', 'base64url'))
    if (toInteger(sealed) >= modulus) return undefined
    const opened = publicDecrypt({ key: this.#key, padding: constants.RSA_NO_PADDING }, sealed)
    return unpad(restoreBlock(opened, modulus))
  }

  get #key(): KeyObject {
    return createPublicKey({ key: this.#numbers, format: 'jwk' })
  }

  /** Whether two keys are the same, whatever the form of their texts. */
  equals(other: PublicKey): boolean {
    const [own, others] = [this.#numbers, other.#numbers]
    return own.n === others.n && own.e === others.e
  }
}
