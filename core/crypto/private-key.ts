import {
  constants,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  privateDecrypt,
  privateEncrypt,
  sign,
} from 'node:crypto'
import { promisify } from 'node:util'
import { normalisePem } from '../base/fingerprint.ts'
import { type EncryptionAlgorithm, encryptionHash, type SigningAlgorithm, signingHash } from './algorithms.ts'
import { checkBits, readPrivate } from './pem.ts'
import { PublicKey } from './public-key.ts'
import { canonicalSignature, pad, toInteger } from './x931.ts'

const generateKeys = promisify(generateKeyPair)

/** The RSA key pair of this peer (wire protocol §2). */
export class PrivateKey {
  readonly publicKey: PublicKey
  readonly #pem: string
  readonly #key: KeyObject
  readonly #modulus: bigint

  /**
   * Read a private key.
   * @throws SaltError KEY_INVALID unless `pem` is one unencrypted RSA private key of 2048 to 8192 bits.
   */
  static parse(pem: string): PrivateKey {
    const key = readPrivate(pem)
    return new PrivateKey(normalisePem(pem), key)
  }

  /** Generate a key pair, without blocking the event loop. It takes about 0.2 s for 2048 bits, 2 s for 4096. */
  static async generate(bits: number): Promise<PrivateKey> {
    checkBits(bits)
    const { privateKey } = await generateKeys('rsa', { modulusLength: bits, publicExponent: 65_537 })
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    return new PrivateKey(normalisePem(pem), privateKey)
  }

  private constructor(pem: string, key: KeyObject) {
    this.#pem = pem
    this.#key = key
    this.#modulus = toInteger(Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url'))
    this.publicKey = PublicKey.parse(createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString())
  }

  /**
   * PEM text for the key file, without a line end after the last line. A getter of a private field, so that no log
   * shows it.
   */
  get pem(): string {
    return this.#pem
  }

  /** Decrypt data; undefined if it was not encrypted for this key with this algorithm. */
  decrypt(data: Uint8Array, algorithm: EncryptionAlgorithm): Buffer | undefined {
    const oaepHash = encryptionHash(algorithm)
    try {
      return privateDecrypt({ key: this.#key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, data)
    } catch {
      return undefined
    }
  }

  sign(data: Uint8Array, algorithm: SigningAlgorithm): Buffer {
    return sign(signingHash(algorithm), data, { key: this.#key, padding: constants.RSA_PKCS1_PADDING })
  }

  /**
   * Sign a short message with recovery, without a hash (X9.31, "private encryption").
   * @throws RangeError if it does not fit.
   */
  seal(message: Uint8Array): Buffer {
    const block = pad(message, this.publicKey.size)
    const sealed = privateEncrypt({ key: this.#key, padding: constants.RSA_NO_PADDING }, block)
    return canonicalSignature(sealed, this.#modulus)
  }
}
