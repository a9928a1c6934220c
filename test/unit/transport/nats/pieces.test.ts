import { expect, test } from 'vitest'
import { Assembly, pieceIn } from '../../../../core/transport/nats/pieces.ts'
import { MAX_MESSAGE_BYTES } from '../../../../core/wire/message-size.ts'

test('a message is whole when all of its pieces have come', () => {
  const assembly = new Assembly(3)
  expect(assembly.add(Buffer.from('ab'))).toBe(true)
  expect([assembly.received, assembly.whole]).toEqual([2, undefined])
  expect(assembly.add(Buffer.from('c'))).toBe(true)
  expect(String(assembly.whole)).toBe('abc')
})

test('a piece that is empty, too long, or of a message that is too long, is refused', () => {
  expect(new Assembly(3).add(Buffer.alloc(0))).toBe(false)
  expect(new Assembly(3).add(Buffer.from('abcd'))).toBe(false)
  expect(new Assembly(MAX_MESSAGE_BYTES + 1).add(Buffer.from('a'))).toBe(false)
})

test('a stored piece does not keep the headers of its message', () => {
  const chunk = new Uint8Array(1_000_000)
  expect(pieceIn({ data: chunk.subarray(999_999) }).buffer.byteLength).toBeLessThan(100_000)
  expect(pieceIn({ data: chunk.subarray(100) }).buffer).toBe(chunk.buffer)
})
