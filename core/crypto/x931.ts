/**
 * ANSI X9.31 padding without a hash (wire protocol §2), which OpenSSL 3 no longer supports: the block is encrypted with raw
 * RSA, and the smaller of s and n - s is sent. Lengths are in bytes; `size` is that of the modulus.
 */

const full = 0x6a
const padded = 0x6b
const fill = 0xbb
const fillEnd = 0xba
const trailer = 0xcc

/** Pad a message to a block. @throws RangeError if the message is not 1 to `size` - 2 bytes long. */
export function pad(message: Uint8Array, size: number): Buffer {
  const padding = size - message.length - 2
  if (message.length < 1 || padding < 0)
    throw new RangeError(`a message of ${message.length} bytes does not fit a key of ${size} bytes`)
  const block = Buffer.alloc(size, fill)
  block[0] = padding === 0 ? full : padded
  if (padding > 0) block[padding] = fillEnd
  block.set(message, padding + 1)
  block[size - 1] = trailer
  return block
}

/** Return the message of a block; undefined if the padding is invalid. */
export function unpad(block: Buffer): Buffer | undefined {
  if (block.at(-1) !== trailer) return undefined
  const start = messageStart(block)
  if (start === undefined || start >= block.length - 1) return undefined
  return Buffer.from(block.subarray(start, -1))
}

function messageStart(block: Buffer): number | undefined {
  if (block[0] === full) return 1
  if (block[0] !== padded) return undefined
  let at = 1
  while (block[at] === fill) at++
  return block[at] === fillEnd ? at + 1 : undefined
}

/** Return the form of a sealed block that is sent: the smaller of s and n - s. */
export function canonicalSignature(sealed: Buffer, modulus: bigint): Buffer {
  const other = toBytes(modulus - toInteger(sealed), sealed.length)
  return sealed.compare(other) < 0 ? sealed : other
}

/** Restore the block from either of the two forms; its last hex digit is C. */
export function restoreBlock(opened: Buffer, modulus: bigint): Buffer {
  return (opened.at(-1)! & 0x0f) === 0x0c ? opened : toBytes(modulus - toInteger(opened), opened.length)
}

export function toInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)
}

function toBytes(integer: bigint, size: number): Buffer {
  return Buffer.from(integer.toString(16).padStart(2 * size, '0'), 'hex')
}
