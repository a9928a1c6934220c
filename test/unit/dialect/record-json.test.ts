import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Float } from '../../../core/dialect/float.ts'
import { fromRecordJson, recordJson } from '../../../core/dialect/record-json.ts'
import { SLOW } from '../../harness/slow.ts'

test('values of JSON are written as JSON', () => {
  expect(recordJson({ a: 1, b: [true, null, 'x'], c: { d: 3.5 } })).toBe(
    '{"a": 1, "b": [true, null, "x"], "c": {"d": 3.5}}',
  )
})

test('bytes, text with NUL, large integers and the types of numbers are read back unchanged', () => {
  const value = {
    bytes: new Uint8Array([0, 255]),
    nul: 'a\0b',
    large: 2n ** 64n,
    float: new Float(3),
    negative: new Float(-0),
    nan: Number.NaN,
    infinite: Number.NEGATIVE_INFINITY,
  }
  const text = recordJson(value)
  expect(text).not.toContain('\\u0000')
  expect(fromRecordJson(text)).toEqual(value)
  expect(recordJson(fromRecordJson(text))).toBe(text)
})

test.each([
  [{ __bytes__: 'AAA=', other: 1 }],
  [{ __bytes__: 'AAA=' }],
  [{ __number__: '5' }],
  [{ __map__: [['a', 1]] }],
  [{ __text__: { __float__: 'NaN' } }],
])('a map that looks like a marker keeps its own meaning: %j', (value) => {
  expect(fromRecordJson(recordJson(value))).toEqual(value)
})

test.each(['5000000000000000000000', '-9223372036854775808', '3.0', '-0', '1E400', '1e2', '0.1', '12.5e-3'])(
  'numbers inside texts are not changed: %s',
  (number) => {
    expect(fromRecordJson(`{"a": "x: ${number}, \\"${number}", "${number}": ["${number}"]}`)).toEqual({
      a: `x: ${number}, "${number}`,
      [number]: [number],
    })
  },
)

test('large returns are read about as fast as JSON is', SLOW, () => {
  const text = recordJson({
    text: '1.0 "\\'.repeat(1_000_000),
    list: Array.from({ length: 50_000 }, (_, n) => ({ n })),
  })
  expect((fromRecordJson(text) as { list: unknown[] }).list).toHaveLength(50_000)
})

test('any JSON is read back unchanged, with all keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(recordJson(fromRecordJson(recordJson(value)))).toBe(recordJson(value))
    }),
  )
})

test('minus zero is a float', () => {
  expect(fromRecordJson('[-0]')).toEqual([new Float(-0)])
})

test.each(['{', '01', '1.', '-', '[1.0', '{"a": 1.0,}', '1.0.0', '"'])(
  'invalid JSON is refused: %s',
  (text) => {
    expect(() => fromRecordJson(text)).toThrow(SyntaxError)
  },
)
