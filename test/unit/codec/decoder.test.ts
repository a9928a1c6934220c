import { Encoder } from '@msgpack/msgpack'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  DateTime,
  decode,
  decodeRaw,
  decodeUntrusted,
  encodeLocal,
  encodeNetwork,
  Float,
  NamedConstant,
  type Value,
} from '../../../core/codec/index.ts'
import { SLOW } from '../../harness/slow.ts'

const fromHex = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

describe('numbers', () => {
  test('of every width keep their value', () => {
    expect(
      decode(
        fromHex(
          '9a 7f e0 ccff cdffff ceffffffff cf0000000100000000 d080 d18000 d280000000 d3ffffffff00000000',
        ),
      ),
    ).toEqual([
      127, -32, 255, 65_535, 4_294_967_295, 4_294_967_296, -128, -32_768, -2_147_483_648, -4_294_967_296,
    ])
  })

  test('beyond 2^53 are bigint, and encode to the same bytes', () => {
    const bytes = fromHex('93 cfffffffffffffffff cf0020000000000000 d38000000000000000')
    expect(decode(bytes)).toEqual([2n ** 64n - 1n, 2n ** 53n, -(2n ** 63n)])
    expect(encodeNetwork(decode(bytes))).toEqual(bytes)
  })

  test('that are whole floats stay floats', () => {
    const bytes = fromHex('93 cb4008000000000000 cb8000000000000000 cb3ff8000000000000')
    const [three, zero, plain] = decode(bytes) as [Float, Float, number]
    expect([three, zero]).toEqual([new Float(3), new Float(-0)])
    expect([three.valueOf() * 2, plain]).toEqual([6, 1.5])
    expect(JSON.stringify(three)).toBe('3')
    expect(encodeNetwork([three, zero, plain])).toEqual(bytes)
  })

  test('in 32-bit floats are read', () => {
    expect(decode(fromHex('92 ca3fc00000 ca40000000'))).toEqual([1.5, new Float(2)])
  })

  test.each(['cb7ff0000000000000', 'cbfff0000000000000', 'cb7ff8000000000000'])(
    'without finite value survive: %s',
    (hex) => {
      expect(encodeNetwork(decode(fromHex(hex))).toString('hex')).toBe(hex)
    },
  )
})

describe('text and bytes', () => {
  test.each(['a3', 'd903', 'da0003', 'db00000003', 'c403', 'c50003', 'c600000003'])(
    'under the head %s are text if they are UTF-8',
    (head) => {
      expect(decode(fromHex(`${head}e282ac`))).toBe('€')
      expect(decode(fromHex(`${head}e28241`))).toEqual(fromHex('e28241'))
    },
  )

  test.each([
    ['an overlong form', 'c080'],
    ['a surrogate', 'eda080'],
    ['more than Unicode has', 'f4908080'],
    ['half a character', 'e282'],
  ])('%s is not text', (_, hex) => {
    const bytes = fromHex(hex)
    expect(decode(encodeNetwork(bytes))).toEqual(bytes)
  })

  test('a byte order mark and NUL are kept', () => {
    expect(decode(encodeNetwork(['\ufeffx', 'a\0b', `\ufeff${'x'.repeat(40)}`]))).toEqual([
      '\ufeffx',
      'a\0b',
      `\ufeff${'x'.repeat(40)}`,
    ])
  })

  test('are copies: the message may be overwritten', () => {
    const message = encodeNetwork([Buffer.from([0xff, 1]), 'text'])
    const value = decode(message)
    message.fill(0)
    expect(value).toEqual([Buffer.from([0xff, 1]), 'text'])
  })

  test('stay bytes in decodeRaw, except keys', () => {
    const raw = decodeRaw(encodeNetwork({ data: 'text', list: ['x', { deep: 'y' }], n: 1 }))
    expect(raw).toEqual({
      data: Buffer.from('text'),
      list: [Buffer.from('x'), { deep: Buffer.from('y') }],
      n: 1,
    })
  })

  test('are found in a part of a larger buffer', () => {
    const buffer = Buffer.concat([Buffer.from('junk'), encodeNetwork('value'), Buffer.from('junk')])
    expect(decode(new Uint8Array(buffer.buffer, buffer.byteOffset + 4, 6))).toBe('value')
  })
})

describe('maps', () => {
  test('with text keys are plain objects', () => {
    const value = decode(encodeNetwork({ a: 1, constructor: 2, toString: 3, '': 4, hasOwnProperty: 5 }))
    expect(value).toStrictEqual({ a: 1, constructor: 2, toString: 3, '': 4, hasOwnProperty: 5 })
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  test.each([
    [
      'numbers',
      '82 01 a161 02 a162',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'nil and booleans',
      '83 c0 01 c2 02 c3 03',
      [
        [null, 1],
        [false, 2],
        [true, 3],
      ],
    ],
    ['bytes', '81 a1ff 01', [[fromHex('ff'), 1]]],
    [
      'a text and then a number',
      '82 a161 01 05 02',
      [
        ['a', 1],
        [5, 2],
      ],
    ],
    ['a large number', '81 cfffffffffffffffff 01', [[2n ** 64n - 1n, 1]]],
  ])('with keys that are %s are Maps, and encode to the same bytes', (_, hex, entries) => {
    const value = decode(fromHex(hex))
    expect(value).toEqual(new Map(entries as [unknown, Value][]))
    expect(encodeNetwork(value)).toEqual(fromHex(hex))
  })

  test('with the key __proto__ are Maps and change no prototype', () => {
    const value = decode(
      fromHex(
        `82 a161 01 a9${Buffer.from('__proto__').toString('hex')} 81 a8${Buffer.from('polluted').toString('hex')} c3`,
      ),
    )
    expect(value).toEqual(
      new Map<unknown, unknown>([
        ['a', 1],
        ['__proto__', { polluted: true }],
      ]),
    )
    expect({}).not.toHaveProperty('polluted')
  })

  test.each([
    ['ascending numbers', ['0', '1', '2']],
    ['ascending numbers with gaps', ['22', '80', '443', '4294967294']],
    ['numbers before names', ['5', 'a', 'b']],
    ['what only looks like numbers', ['b', '01', '1.0', '-1', '4294967295', '20240101000000000000']],
  ])('with %s keep their order as plain objects', (_, keys) => {
    const value = decode(mapOf(keys))
    expect(value).not.toBeInstanceOf(Map)
    expect(Object.keys(value as object)).toEqual(keys)
    expect(encodeNetwork(value)).toEqual(mapOf(keys))
  })

  test.each([
    ['descending numbers', ['2', '1']],
    ['names before numbers', ['a', '5']],
    ['a number in the middle', ['1', 'x', '2', 'y']],
  ])('with %s are Maps, for an object would change the order', (_, keys) => {
    const value = decode(mapOf(keys)) as Map<unknown, Value>
    expect([...value.keys()]).toEqual(keys)
    expect(encodeNetwork(value)).toEqual(mapOf(keys))
  })

  test('that name a key twice keep the last value', () => {
    expect(decode(fromHex('82 a161 01 a161 02'))).toEqual({ a: 2 })
    expect(decode(fromHex('82 a131 01 a131 02'))).toEqual(new Map([['1', 2]]))
  })

  test.each(['81 90 01', '81 80 01', '81 dc0000 01', '81 de0000 01'])(
    'with an array or a map as key are refused: %s',
    (hex) => {
      expect(() => decode(fromHex(hex))).toThrow('a key of a map is an array or a map')
    },
  )
})

describe('extensions', () => {
  test('of type 78 are date-times', () => {
    const value = decode(encodeLocal(new DateTime('20261120T09:39:06.867843'))) as DateTime
    expect(value).toEqual(new DateTime('20261120T09:39:06.867843'))
    expect(String(value)).toBe('2026-11-20T09:39:06.867843')
    expect(JSON.stringify({ value })).toBe('{"value":"2026-11-20T09:39:06.867843"}')
  })

  test('of type 78 that are not date-times are bytes', () => {
    expect(decode(fromHex('d64e000102ff'))).toEqual(fromHex('000102ff'))
  })

  test('of other types are text if they are UTF-8, as a later decoder would read them', () => {
    const message = fromHex(
      '92 c70805 6377643d2f657463 82 c70905 5f5f6b776172675f5f c3 a3637764 d64e 2f657463',
    )
    const value = decode(message)
    expect(value).toEqual(['cwd=/etc', { __kwarg__: true, cwd: '/etc' }])
    expect(decode(encodeNetwork(value))).toEqual(value)
    expect(decodeRaw(fromHex('d50561 62'))).toEqual(Buffer.from('ab'))
  })

  test('of type 79 are named constants, and encode to the same bytes', () => {
    const constant = new NamedConstant('VALUE_TRIMMED', [1, { a: null }])
    const bytes = encodeNetwork({ constant, after: 'text' })
    expect(decode(bytes)).toEqual({ constant, after: 'text' })
    expect(encodeNetwork(decode(bytes))).toEqual(bytes)
  })

  test.each(['d44fc0', 'd64f9201a161', 'd54f92a1', 'd64f91a16100', 'd64fa16100'])(
    'of type 79 that are not pairs are refused: %s',
    (hex) => {
      expect(() => decode(fromHex(hex))).toThrow('cannot be decoded')
    },
  )

  test.each([
    'd401aa',
    'd501aabb',
    'd601aabbccdd',
    `d701${'aa'.repeat(8)}`,
    `d801${'aa'.repeat(16)}`,
    'c70201aabb',
    'c8000201aabb',
    'c90000000201aabb',
  ])('of other types are their payload: %s', (hex) => {
    const payload = hex.slice(hex.indexOf('01aa') + 2)
    expect(decode(fromHex(hex))).toEqual(fromHex(payload))
  })
})

describe('a message that is malformed', () => {
  test.each([
    ['nothing', '', 'it ends early'],
    ['a head without body', 'cd00', 'it ends early'],
    ['text that ends early', 'a5616263', 'it ends early'],
    ['an array that ends early', '9201', 'it claims more elements than it has bytes'],
    ['a map that ends early', '8101', 'it claims more elements than it has bytes'],
    ['text that is longer than the rest of the message', '93a3616263', 'it ends early'],
    ['an unassigned head', 'c1', 'it holds the byte 0xc1, which begins no value'],
    ['more than one value', '0102', '1 bytes follow the value'],
  ])('is refused with its reason: %s', (_, hex, reason) => {
    for (const read of [decode, decodeRaw, decodeUntrusted]) {
      expect(() => read(fromHex(hex))).toThrowError(expect.objectContaining({ code: 'DECODE_FAILED' }))
      expect(() => read(fromHex(hex))).toThrowError(`The message cannot be decoded: ${reason}.`)
    }
  })
})

describe('round trips', () => {
  const leaf = fc.oneof(
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
    fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
    fc.double().filter((number) => !Number.isSafeInteger(number)),
    fc.maxSafeInteger().map((number) => new Float(number)),
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ minLength: 1 }).map((bytes) => Buffer.concat([bytes, Buffer.from([0xff])])),
    fc.constant(new DateTime('20261120T09:39:06.000001')),
  )
  const { value: values } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      tie('array'),
      tie('object'),
      tie('map'),
    ),
    array: fc.array(tie('value'), { maxLength: 20 }),
    object: fc.dictionary(fc.string(), tie('value'), { maxKeys: 20, noNullPrototype: true }),
    map: fc
      .array(fc.tuple(fc.oneof(fc.integer(), fc.string()), tie('value')))
      .map((entries) => new Map(entries)),
  }))

  test.each([
    ['network', encodeNetwork],
    ['local', encodeLocal],
  ])('in the %s dialect give the same bytes for any value', SLOW, (_, encode) => {
    fc.assert(
      fc.property(values, (value) => {
        const bytes = encode(value)
        expect(encode(decode(bytes)).equals(bytes)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('agree with another MessagePack library', () => {
    const library = new Encoder()
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(plain(decode(library.encode(value))))).toBe(JSON.stringify(value))
      }),
    )
  })
})

function mapOf(keys: string[]): Buffer {
  return encodeNetwork(new Map(keys.map((key, index) => [key, index])))
}

/** Maps made objects again, for comparison with what JSON holds. */
function plain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, member]) => [key, plain(member)]))
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || value instanceof Float) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]))
}
