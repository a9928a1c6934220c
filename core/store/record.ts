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

/** Undefined if the bytes are not what was written. */
export function unseal(record: Uint8Array): { readonly value: Value } | undefined {
  if (record.length <= CHECKSUM_BYTES) return undefined
  const body = record.subarray(CHECKSUM_BYTES)
  const written = Buffer.from(record.buffer, record.byteOffset, CHECKSUM_BYTES).readUInt32LE()
  return crc32(body) === written ? { value: decode(body) } : undefined
}
