import { crc32 } from 'node:zlib'
import { decode, encodeLocal, type Value } from '../codec/index.ts'

const CHECKSUM_BYTES = 4

/** A value as it lies in the file: checksum, then MessagePack in the local dialect (wire protocol §1). */
export function seal(value: unknown): Buffer {
  const body = encodeLocal(value)
  const record = Buffer.allocUnsafe(CHECKSUM_BYTES + body.length)
  record.writeUInt32LE(crc32(body))
  record.set(body, CHECKSUM_BYTES)
  return record
}

/** Undefined if the bytes are not what was written. `read` makes a value of them. */
export function unseal(
  record: Uint8Array,
  read: (bytes: Uint8Array) => Value = decode,
): { readonly value: Value } | undefined {
  return isSealed(record) ? { value: read(record.subarray(CHECKSUM_BYTES)) } : undefined
}

/** Whether the bytes are what was written. */
export function isSealed(record: Uint8Array): boolean {
  if (record.length <= CHECKSUM_BYTES) return false
  const written = Buffer.from(record.buffer, record.byteOffset, CHECKSUM_BYTES).readUInt32LE()
  return crc32(record.subarray(CHECKSUM_BYTES)) === written
}
