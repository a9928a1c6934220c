import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { decode, decodeRaw, encodeLocal, StreamDecoder } from '../../../core/codec/index.ts'
import { SLOW } from '../../harness/slow.ts'

const event = { head: {}, body: Buffer.from('tag\n\n\x82', 'latin1') }

describe('a stream of values', () => {
  test('returns each value when its last byte has arrived', () => {
    const decoder = new StreamDecoder(decode)
    const stream = Buffer.concat([encodeLocal([1, { a: 'b' }]), encodeLocal('x'.repeat(300))])
    const given = [...stream].map((byte) => decoder.push(Uint8Array.of(byte)).length)
    expect(given.flatMap((count, at) => (count ? [at] : []))).toEqual([6, stream.length - 1])
  })

  test('returns all values of a chunk at once, and keeps the rest', () => {
    const decoder = new StreamDecoder(decode)
    const one = encodeLocal({ n: 1 })
    expect(decoder.push(Buffer.concat([one, one, one.subarray(0, 2)]))).toEqual([{ n: 1 }, { n: 1 }])
    expect(decoder.push(one.subarray(2))).toEqual([{ n: 1 }])
    expect(decoder.push(Buffer.alloc(0))).toEqual([])
  })

  test('refuses a value above the limit when its header arrives, and accepts many smaller ones in one chunk', () => {
    const decoder = new StreamDecoder(decode, 100)
    const small = encodeLocal('x'.repeat(60))
    expect(decoder.push(Buffer.concat([small, small, small]))).toHaveLength(3)
    expect(() => decoder.push(encodeLocal('x'.repeat(200)).subarray(0, 3))).toThrow('larger than 100 bytes')
  })

  test('is decoded correctly wherever it is cut into chunks, for every type of value', SLOW, () => {
    const values = fc.array(
      fc.anything({ withBigInt: true, withSet: true, withDate: true, withTypedArray: true }),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 100 }), (list, size) => {
        const messages = list.map(encodeLocal)
        const stream = Buffer.concat(messages)
        const seen: Buffer[] = []
        const decoder = new StreamDecoder((bytes) => {
          seen.push(Buffer.from(bytes))
          return null
        })
        for (let at = 0; at < stream.length; at += size) decoder.push(stream.subarray(at, at + size))
        expect(seen).toEqual(messages)
      }),
    )
  })

  test('keeps bytes as bytes on request', () => {
    expect(new StreamDecoder(decodeRaw).push(encodeLocal({ head: {}, body: Buffer.from('text') }))).toEqual([
      { head: {}, body: Buffer.from('text') },
    ])
  })

  test('does not keep references to the chunks', () => {
    const decoder = new StreamDecoder(decode)
    const chunk = Buffer.from(encodeLocal(event))
    const half = Buffer.from(chunk.subarray(0, 9))
    decoder.push(half)
    half.fill(0)
    expect(decoder.push(chunk.subarray(9))).toEqual([event])
  })

  test('reads a value of 20 MB in 64 kB chunks without copying it repeatedly', SLOW, () => {
    const decoder = new StreamDecoder(decode)
    const message = encodeLocal({ head: {}, body: Buffer.alloc(20 << 20, 0xff) })
    const made = vi.spyOn(Buffer, 'alloc')
    const values = []
    for (let at = 0; at < message.length; at += 65_536)
      values.push(...decoder.push(message.subarray(at, at + 65_536)))
    expect(values).toHaveLength(1)
    const copied = made.mock.calls.reduce((sum, [size]) => sum + size, 0)
    made.mockRestore()
    expect(copied / message.length).toBeLessThan(4)
  })

  test.each([
    ['text of 200 MB', 'db0bebc200'],
    ['an array of 200 million', 'dd0bebc200'],
    ['a map of four thousand million', 'dfffffffff'],
  ])('ends with an error at the head of %s', (_, hex) => {
    const decoder = new StreamDecoder(decode)
    expect(() => decoder.push(Buffer.from(`${hex}00`, 'hex'))).toThrowError(
      expect.objectContaining({ code: 'DECODE_FAILED' }),
    )
  })

  test('ends with an error at a byte that begins no value', () => {
    expect(() => new StreamDecoder(decode).push(Uint8Array.of(0xc1))).toThrow('0xc1')
  })
})
