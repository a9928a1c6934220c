import { Decoder } from '@msgpack/msgpack'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  DateTime,
  decode,
  Encoded,
  encodeLocal,
  encodeLocalParts,
  encodeNetwork,
  encodeNetworkParts,
  Float,
  NamedConstant,
} from '../../../core/codec/index.ts'
import { SLOW } from '../../harness/slow.ts'

const hex = (value: unknown) => encodeNetwork(value).toString('hex')
const localHex = (value: unknown) => encodeLocal(value).toString('hex')

describe('an encoded part', () => {
  const value = { text: 'x'.repeat(200), bytes: Buffer.from([0xff, 0xfe]), list: [1, 3n, new Float(3)] }
  const encoded = new Encoded(encodeNetwork(value))
  const large = { text: 'ż'.repeat(100_000) }

  test.each([encodeNetwork, encodeLocal])(
    'is decoded inside of a message like the value itself',
    (encode) => {
      const around = { before: 1, value: encoded, after: ['x'] }
      expect(decode(encode(around))).toEqual(decode(encode({ ...around, value })))
    },
  )

  test.each([
    [encodeNetworkParts, encodeNetwork],
    [encodeLocalParts, encodeLocal],
  ])('is a chunk of its own if it is large, and is not copied', SLOW, (inParts, encode) => {
    const bytes = encodeNetwork(large)
    const around = { before: 1, value: new Encoded(bytes), small: encoded, after: ['x'] }
    const parts = inParts(around)
    expect(Buffer.concat(parts)).toEqual(encode(around))
    expect(parts).toHaveLength(3)
    expect(parts[1]).toBe(bytes)
    expect(encode({ next: 'message' })).toEqual(encode({ next: 'message' }))
  })
})

describe('both dialects', () => {
  test.each([
    [0, '00'],
    [127, '7f'],
    [128, 'cc80'],
    [255, 'ccff'],
    [256, 'cd0100'],
    [65_535, 'cdffff'],
    [65_536, 'ce00010000'],
    [4_294_967_295, 'ceffffffff'],
    [4_294_967_296, 'cf0000000100000000'],
    [Number.MAX_SAFE_INTEGER, 'cf001fffffffffffff'],
    [-1, 'ff'],
    [-32, 'e0'],
    [-33, 'd0df'],
    [-128, 'd080'],
    [-129, 'd1ff7f'],
    [-32_769, 'd2ffff7fff'],
    [-2_147_483_649, 'd3ffffffff7fffffff'],
    [Number.MIN_SAFE_INTEGER, 'd3ffe0000000000001'],
  ])('write the whole number %d as short as Python does', (value, written) => {
    expect([hex(value), localHex(value)]).toEqual([written, written])
    expect(hex(BigInt(value))).toBe(written)
  })

  test.each([
    [2n ** 64n - 1n, 'cfffffffffffffffff'],
    [2n ** 53n, 'cf0020000000000000'],
    [-(2n ** 63n), 'd38000000000000000'],
  ])('write %d, which no JavaScript number can hold, in 64 bits', (value, written) => {
    expect(hex(value)).toBe(written)
    expect(decode(encodeNetwork(value))).toBe(value)
  })

  test.each([0, 1, 31, 32, 47, 48, 49, 127, 255, 256, 65_535, 65_536])(
    'write text of %d characters so that another library reads it, for all letters',
    (length) => {
      for (const letter of ['a', 'ä', '\u{1f600}', '\ud800']) {
        const text = letter.repeat(length)
        const read = Buffer.from(text).toString()
        for (const encode of [encodeNetwork, encodeLocal])
          expect(new Decoder().decode(encode([text, { [text]: 1 }]))).toEqual([read, { [read]: 1 }])
      }
    },
  )

  test.each([2n ** 64n, 10n ** 40n, -(2n ** 63n) - 1n])('write %d, beyond 64 bits, as text', (value) => {
    expect(decode(encodeNetwork(value))).toBe(String(value))
  })

  test.each([
    [1.5, 'cb3ff8000000000000'],
    [new Float(3), 'cb4008000000000000'],
    [new Float(-0), 'cb8000000000000000'],
    [1e22, 'cb4480f0cf064dd592'],
    [Number.POSITIVE_INFINITY, 'cb7ff0000000000000'],
    [Number.NaN, 'cb7ff8000000000000'],
  ])('write the float %s in 64 bits', (value, written) => {
    expect(hex(value)).toBe(written)
  })

  test('leave undefined members of maps out, and write nil for them in arrays', () => {
    expect(hex({ a: undefined, b: 1 })).toBe(hex({ b: 1 }))
    expect(hex(new Map([['a', undefined]]))).toBe('80')
    expect(hex([undefined])).toBe('91c0')
    expect(hex(undefined)).toBe('c0')
  })

  test('write a Set as an array and a Map with its keys as they are', () => {
    expect(hex(new Set([1, 'a']))).toBe('9201a161')
    expect(
      hex(
        new Map<unknown, unknown>([
          [1, 2],
          [null, true],
          ['a', new Float(1)],
        ]),
      ),
    ).toBe('830102c0c3a161cb3ff0000000000000')
  })

  test.each([15, 16, 65_535, 65_536])(
    'write a Map of %d entries like an object with the same entries',
    (size) => {
      const entries = Array.from({ length: size }, (_, i) => [`k${i}`, i] as const)
      expect(encodeNetwork(new Map(entries)).equals(encodeNetwork(Object.fromEntries(entries)))).toBe(true)
    },
  )

  test('write a date as a date-time with six digits of a second', () => {
    const date = new Date('2026-11-20T09:39:06.867Z')
    expect(encodeNetwork(date).toString('latin1')).toBe('\xc7\x18\x4e20261120T09:39:06.867000')
    expect(hex(new DateTime('20261120T09:39:06.867000'))).toBe(hex(date))
  })

  test('write nil for a date that peers cannot represent', () => {
    expect(hex([new Date(Number.NaN), new Date(8.64e15), new Date(-8.64e15)])).toBe('93c0c0c0')
  })

  test('write a named constant in the local dialect, also inside other values', () => {
    const constant = new NamedConstant('x'.repeat(40), 1)
    expect(hex(constant)).toBe(`c72c4f92d928${'78'.repeat(40)}01`)
    expect(localHex([constant])).toBe(`91${hex(constant)}`)
  })

  test('replace a lone surrogate, which UTF-8 cannot hold', () => {
    expect(decode(encodeNetwork(['\ud800', `${'x'.repeat(100)}\udc00y`, '😀']))).toEqual([
      '\ufffd',
      `${'x'.repeat(100)}\ufffdy`,
      '😀',
    ])
  })

  test.each([
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a Map with an array as key', new Map([[[1], 1]])],
    ['a Map with an object as key', new Map([[{}, 1]])],
    ['a cycle', cycle()],
    ['200 levels of arrays', nested(200)],
  ])('refuse %s in a sentence', (_, value) => {
    expect(() => encodeNetwork({ value })).toThrowError(/^The value cannot be encoded: .+\.$/)
    expect(decode(encodeNetwork('after that all is well'))).toBe('after that all is well')
  })

  test('can be used while another value is being encoded', () => {
    const value = {
      get inner() {
        return encodeNetwork([1, 2]).toString('hex')
      },
    }
    expect(decode(encodeNetwork(value))).toEqual({ inner: '920102' })
  })

  test('give bytes that later messages do not change', () => {
    const first = encodeNetwork('a'.repeat(10))
    encodeNetwork('b'.repeat(10))
    expect(first.toString('latin1')).toBe(`\xaa${'a'.repeat(10)}`)
  })
})

describe('the network dialect', () => {
  test.each([
    [0, 'a0'],
    [31, 'bf'],
    [32, 'da0020'],
    [255, 'da00ff'],
    [65_535, 'daffff'],
    [65_536, 'db00010000'],
  ])('gives %d characters and as many bytes the same head', (size, head) => {
    expect(hex('x'.repeat(size))).toBe(head + '78'.repeat(size))
    expect(hex(Buffer.alloc(size, 'x'))).toBe(head + '78'.repeat(size))
    expect(hex(new Uint8Array(size).fill(0x78))).toBe(head + '78'.repeat(size))
  })

  test('applies to keys, too', () => {
    expect(hex({ ['k'.repeat(40)]: 1 }).slice(0, 8)).toBe('81da0028')
  })
})

describe('the local dialect', () => {
  test.each([
    [31, 'bf', 'c41f'],
    [32, 'd920', 'c420'],
    [256, 'da0100', 'c50100'],
    [65_536, 'db00010000', 'c600010000'],
  ])('distinguishes %d characters from as many bytes', (size, textHead, bytesHead) => {
    expect(localHex('x'.repeat(size))).toBe(textHead + '78'.repeat(size))
    expect(localHex(Buffer.alloc(size, 'x'))).toBe(bytesHead + '78'.repeat(size))
  })

  test('is what another MessagePack library reads', () => {
    const library = new Decoder()
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__')) // which that library refuses
        expect(JSON.stringify(library.decode(encodeLocal(value)))).toBe(JSON.stringify(value))
      }),
    )
  })
})

function cycle(): unknown {
  const value: Record<string, unknown> = {}
  value.self = value
  return value
}

function nested(levels: number): unknown {
  return Array.from({ length: levels }).reduce((inner) => [inner], 1 as unknown)
}
