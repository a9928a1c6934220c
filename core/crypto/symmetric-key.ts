import { createHash, randomBytes } from 'node:crypto'
import { SaltError } from '../base/errors.ts'
import { type EnvelopeKeys, open, seal } from './envelope.ts'
import { secretsEqual } from './secrets.ts'

const marker = Buffer.from('pickle::')
const emptyMap = Buffer.from([0x80])
/** 56 bytes in base64: 24 for AES-192, 32 for the MAC. */
const keyText = /^[A-Za-z0-9+/]{75}=$/

/** A symmetric key and its envelope (§3, Salt's "Crypticle"): the cluster's AES key, or a session key. */
export class SymmetricKey {
  readonly #text: string
  readonly #keys: EnvelopeKeys

  static generate(): SymmetricKey {
    return new SymmetricKey(randomBytes(56).toString('base64'))
  }

  /** @throws SaltError KEY_INVALID unless `text` is base64 of 56 bytes. */
  static parse(text: string): SymmetricKey {
    if (typeof text === 'string' && keyText.test(text)) return new SymmetricKey(text)
    throw new SaltError('KEY_INVALID', 'The symmetric key is not 76 characters of base64 text.')
  }

  private constructor(text: string) {
    // A small buffer is usually part of a larger one, all of which would stay with a key that is kept.
    const bytes = Buffer.allocUnsafeSlow(56)
    bytes.write(text, 'base64')
    this.#text = text
    this.#keys = { cipher: bytes.subarray(0, 24), mac: bytes.subarray(24) }
  }

  /** What travels and what is kept in files. A getter over a private field, so that no log shows it. */
  get text(): string {
    return this.#text
  }

  /** SHA-256 of the text in hex: what the master seals at sign-in to prove the key is its own (§6.3). */
  digest(): string {
    return createHash('sha256').update(this.#text).digest('hex')
  }

  /** `message` is MessagePack, perhaps in parts; `nonce` (ASCII, 32 hex characters) ties a reply to its request. */
  encrypt(message: Uint8Array | readonly Uint8Array[], nonce = ''): Buffer {
    const parts = message instanceof Uint8Array ? [message] : message
    return seal(this.#keys, randomBytes(16), [marker, Buffer.from(nonce), ...parts])
  }

  /**
   * The MessagePack bytes; undefined if they were sealed with another key, changed, or carry another nonce.
   * Without the marker a message counts as an empty map.
   */
  decrypt(sealed: Uint8Array, nonce?: string): Buffer | undefined {
    const plain = open(this.#keys, sealed)
    if (plain === undefined) return undefined
    if (!plain.subarray(0, marker.length).equals(marker)) return Buffer.from(emptyMap)
    const message = plain.subarray(marker.length)
    if (nonce === undefined) return message
    const received = message.toString('latin1', 0, nonce.length)
    return secretsEqual(received, nonce) ? message.subarray(nonce.length) : undefined
  }
}
