import { decodeRaw, encodeLocal } from '../../codec/index.ts'

/** Wrap a publication: bytes that hold its MessagePack map, which subscribers of all generations take, and those of Salt 3007 need. */
export const wrap = (publication: Uint8Array): Uint8Array => encodeLocal(publication)

/** Unwrap a publication. Masters before Salt 3007 send the map itself. @throws SaltError DECODE_FAILED */
export function unwrap(body: Uint8Array): Uint8Array {
  if (isMap(body[0] ?? 0)) return body
  const inner = decodeRaw(body)
  return inner instanceof Uint8Array ? inner : body
}

const isMap = (head: number): boolean => (head & 0xf0) === 0x80 || head === 0xde || head === 0xdf
