import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { SaltError } from '../base/errors.ts'
import { decryptEnvelope, type EnvelopeKeys, encryptEnvelope } from './envelope.ts'
import { pooledRandomBytes } from './random-pool.ts'
import { secretsEqual } from './secrets.ts'

const marker = Buffer.from('pickle::')
const emptyMap = Buffer.from([0x80])
/** 56 bytes in base64: 24 for AES-192, 32 for the HMAC. */
const keyText = /^[A-Za-z0-9+/]{75}=$/

/** A symmetric key and its envelope (wire protocol §3, Salt's "Crypticle"): the cluster's AES key, or a session key. */
export class SymmetricKey {
  readonly #text: string
  readonly #keys: EnvelopeKeys

  static generate(): SymmetricKey {
    return new SymmetricKey(randomBytes(56).toString('base64'))
  }

  /** Read a key. @throws SaltError KEY_INVALID unless `text` is base64 of 56 bytes. */
  static parse(text: string): SymmetricKey {
    if (typeof text === 'string' && keyText.test(text)) return new SymmetricKey(text)
    throw new SaltError('KEY_INVALID', 'The symmetric key is not 76 characters of base64 text.')
  }

  /** Derive a key from a secret, for the purpose that `info` names (HKDF with SHA-256). */
  static derive(secret: string, info: string): SymmetricKey {
    return new SymmetricKey(Buffer.from(hkdfSync('sha256', secret, '', info, 56)).toString('base64'))
  }

  private constructor(text: string) {
    // `Buffer.from` would usually take a part of the shared pool, and a key that is kept would keep the whole pool in memory.
    const bytes = Buffer.allocUnsafeSlow(56)
    bytes.write(text, 'base64')
    this.#text = text
    this.#keys = { cipher: bytes.subarray(0, 24), mac: bytes.subarray(24) }
  }

  /** The key as text, for messages and files. A getter of a private field, so that no log shows it. */
  get text(): string {
    return this.#text
  }

  /**
   * Return the SHA-256 of the text in hex. The master seals it at sign-in to prove that the key is its own (wire
   * protocol §6.3).
   */
  digest(): string {
    return createHash('sha256').update(this.#text).digest('hex')
  }

  /**
   * Encrypt a message: MessagePack, possibly in parts. `nonce` (32 hex characters in ASCII) binds a reply to its
   * request. `headOf` returns the bytes that are put before an envelope of a size.
   */
  encrypt(
    message: Uint8Array | readonly Uint8Array[],
    nonce = '',
    headOf?: (size: number) => Uint8Array,
  ): Buffer {
    const parts = message instanceof Uint8Array ? [message] : message
    const plain = [marker, Buffer.from(nonce), ...parts]
    return encryptEnvelope(this.#keys, pooledRandomBytes(16), plain, headOf)
  }

  /**
   * Decrypt to MessagePack; undefined if the message was sealed with another key, was changed, or has another nonce. A
   * message without the marker decrypts to an empty map.
   */
  decrypt(sealed: Uint8Array, nonce?: string): Buffer | undefined {
    const plain = decryptEnvelope(this.#keys, sealed)
    if (plain === undefined) return undefined
    if (!plain.subarray(0, marker.length).equals(marker)) return Buffer.from(emptyMap)
    const message = plain.subarray(marker.length)
    if (nonce === undefined) return message
    const received = message.toString('latin1', 0, nonce.length)
    return secretsEqual(received, nonce) ? message.subarray(nonce.length) : undefined
  }
}
