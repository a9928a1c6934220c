import { crc32 } from 'node:zlib'
import { encodeLocalParts } from '../codec/index.ts'

const CHECKSUM_BYTES = 4

/** Return a value as it is stored: a checksum, then MessagePack in the local dialect (wire protocol §1). */
export function withChecksum(value: unknown): Buffer {
  const checksum = Buffer.allocUnsafe(CHECKSUM_BYTES)
  const body = encodeLocalParts(value)
  checksum.writeUInt32LE(body.reduce((sum, part) => crc32(part, sum), 0))
  return Buffer.concat([checksum, ...body])
}

/** Return the value of a record, as `read` decodes it; undefined if the checksum does not match. */
export function withoutChecksum<T>(
  record: Uint8Array,
  read: (bytes: Uint8Array) => T,
): { readonly value: T } | undefined {
  return hasValidChecksum(record) ? { value: read(record.subarray(CHECKSUM_BYTES)) } : undefined
}

/** Whether the checksum of a record matches. */
export function hasValidChecksum(record: Uint8Array): boolean {
  if (record.length <= CHECKSUM_BYTES) return false
  const written = Buffer.from(record.buffer, record.byteOffset, CHECKSUM_BYTES).readUInt32LE()
  return crc32(record.subarray(CHECKSUM_BYTES)) === written
}
