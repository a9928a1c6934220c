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
/** Bytes that are encrypted at once: the output of larger pieces is memory that the system maps anew for each, which takes longer. */
const pieceSize = 1 << 15
const NOTHING = new Uint8Array()

/**
 * Encrypt and authenticate a message. `iv` has 16 bytes, random for every message. `headOf` returns the bytes that are put before an
 * envelope of a size, so that a large one need not be copied.
 */
export function encryptEnvelope(
  keys: EnvelopeKeys,
  iv: Uint8Array,
  plain: readonly Uint8Array[],
  headOf: (size: number) => Uint8Array = () => NOTHING,
): Buffer {
  const cipher = createCipheriv(cipherName, keys.cipher, iv)
  const size = plain.reduce((sum, { length }) => sum + length, 0)
  const envelopeSize = ivSize + size + blockSize - (size % blockSize) + macSize
  const head = headOf(envelopeSize)
  const sealed = Buffer.allocUnsafe(head.length + envelopeSize)
  sealed.set(head)
  sealed.set(iv, head.length)
  let at = head.length + ivSize
  const write = (bytes: Uint8Array) => {
    sealed.set(bytes, at)
    at += bytes.length
  }
  for (const part of plain)
    for (let from = 0; from < part.length; from += pieceSize)
      write(cipher.update(part.subarray(from, from + pieceSize)))
  write(cipher.final())
  write(authenticate(keys, sealed.subarray(head.length, at)))
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
  cipher.setAutoPadding(false) // with it, the last block would come separately, and the others would have to be copied
  try {
    const padded = cipher.update(body.subarray(ivSize))
    cipher.final()
    return withoutPadding(padded)
  } catch {
    return undefined // no whole blocks with a valid MAC: the sender is broken
  }
}

/** Remove PKCS#7 padding; undefined if it is wrong, with a valid MAC: the sender is broken. */
function withoutPadding(padded: Buffer): Buffer | undefined {
  const count = padded.at(-1) ?? 0
  const start = padded.length - count
  const isPadding = count >= 1 && count <= blockSize && padded.subarray(start).every((byte) => byte === count)
  return isPadding ? padded.subarray(0, start) : undefined
}

function authenticate(keys: EnvelopeKeys, body: Uint8Array): Buffer {
  return createHmac('sha256', keys.mac).update(body).digest()
}
