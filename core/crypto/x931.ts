/**
 * ANSI X9.31 padding without a hash (§2), which OpenSSL 3 no longer offers: the block goes through raw RSA and the
 * smaller of s and n - s travels. Lengths are in bytes, `size` is that of the modulus.
 */

const full = 0x6a
const padded = 0x6b
const fill = 0xbb
const fillEnd = 0xba
const trailer = 0xcc

/** The block to be sealed. @throws RangeError if the message is not 1 to `size` - 2 bytes long. */
export function pad(message: Uint8Array, size: number): Buffer {
  const room = size - message.length - 2
  if (message.length < 1 || room < 0)
    throw new RangeError(`${message.length} bytes do not fit a key of ${size}`)
  const block = Buffer.alloc(size, fill)
  block[0] = room === 0 ? full : padded
  if (room > 0) block[room] = fillEnd
  block.set(message, room + 1)
  block[size - 1] = trailer
  return block
}

/** The message of a block; undefined if it is not one. */
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

/** What travels of a sealed block: the smaller of s and n - s. */
export function smaller(sealed: Buffer, modulus: bigint): Buffer {
  const other = toBytes(modulus - toInteger(sealed), sealed.length)
  return sealed.compare(other) < 0 ? sealed : other
}

/** The block that was sealed, from either of the two: its last half byte is C. */
export function withTrailer(opened: Buffer, modulus: bigint): Buffer {
  return (opened.at(-1)! & 0x0f) === 0x0c ? opened : toBytes(modulus - toInteger(opened), opened.length)
}

export function toInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)
}

function toBytes(integer: bigint, size: number): Buffer {
  return Buffer.from(integer.toString(16).padStart(2 * size, '0'), 'hex')
}
