import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The cipher of the symmetric envelope (wire protocol §3): IV ‖ AES-192-CBC with PKCS#7 ‖ HMAC-SHA-256 over both.
 * `SymmetricKey` defines the content of the plain bytes.
 */

export interface EnvelopeKeys {
  /** 24 bytes. */
  readonly cipher: Buffer
  /** 32 bytes. */
  readonly mac: Buffer
}

const cipherName = 'aes-192-cbc'
const ivSize = 16
const macSize = 32
const blockSize = 16
/** Bytes that are encrypted at once, to avoid a second copy of a large message. */
const pieceSize = 1 << 20

/** Encrypt and authenticate a message. `iv` has 16 bytes, random for every message. */
export function encryptEnvelope(keys: EnvelopeKeys, iv: Uint8Array, plain: readonly Uint8Array[]): Buffer {
  const cipher = createCipheriv(cipherName, keys.cipher, iv)
  const size = plain.reduce((sum, { length }) => sum + length, 0)
  const sealed = Buffer.allocUnsafe(ivSize + size + blockSize - (size % blockSize) + macSize)
  sealed.set(iv)
  let at = ivSize
  const write = (bytes: Uint8Array) => {
    sealed.set(bytes, at)
    at += bytes.length
  }
  for (const part of plain)
    for (let from = 0; from < part.length; from += pieceSize)
      write(cipher.update(part.subarray(from, from + pieceSize)))
  write(cipher.final())
  write(authenticate(keys, sealed.subarray(0, at)))
  return sealed
}

/** Return the plain bytes; undefined if the message was not sealed with these keys, or was changed. */
export function decryptEnvelope(keys: EnvelopeKeys, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < macSize) return undefined
  const body = sealed.subarray(0, -macSize)
  if (!timingSafeEqual(authenticate(keys, body), sealed.subarray(-macSize))) return undefined
  return decipher(keys, body)
}

function decipher(keys: EnvelopeKeys, body: Uint8Array): Buffer | undefined {
  if (body.length < 2 * ivSize) return undefined
  const cipher = createDecipheriv(cipherName, keys.cipher, body.subarray(0, ivSize))
  try {
    return Buffer.concat([cipher.update(body.subarray(ivSize)), cipher.final()])
  } catch {
    return undefined // wrong padding with a valid MAC: the sender is broken
  }
}

function authenticate(keys: EnvelopeKeys, body: Uint8Array): Buffer {
  return createHmac('sha256', keys.mac).update(body).digest()
}
