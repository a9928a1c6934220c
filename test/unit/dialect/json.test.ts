import { expect, test } from 'vitest'
import { DateTime, Float } from '../../../core/codec/values.ts'
import { jsonText, valueText } from '../../../core/dialect/json.ts'

test('numbers keep their kind and digits', () => {
  const numbers = [3, new Float(3), new Float(-0), -0, 2n ** 64n, 1e22, 1e-7, 1.5, Number.NaN, Infinity]
  expect(jsonText(numbers)).toBe('[3, 3.0, -0.0, -0.0, 18446744073709551616, 1e+22, 1e-07, 1.5, null, null]')
  expect(JSON.parse(jsonText(numbers))).toHaveLength(numbers.length)
})

test('maps keep their order and every kind of key', () => {
  const map = new Map<unknown, unknown>([
    ['b', []],
    [2, {}],
    [1n, null],
    [null, true],
    [new Float(1), undefined],
  ])
  expect(jsonText(map)).toBe('{"b": [], "2": {}, "1": null, "null": true, "1.0": null}')
  expect(jsonText({ a: [1, { b: 'x\n' }] }, { step: 2 })).toBe(
    '{\n  "a": [\n    1,\n    {\n      "b": "x\\n"\n    }\n  ]\n}',
  )
})

test('a value that JSON cannot express is its text', () => {
  expect(jsonText([new DateTime('20200102T03:04:05.000006')])).toBe('["2020-01-02T03:04:05.000006"]')
  expect(jsonText(Buffer.from('x'), { other: () => 'bytes' })).toBe('"bytes"')
})

test('a map with a key that cannot be converted to text is text, too', () => {
  expect(valueText(new Map([[{ toString: 1 }, [{ toString: 1 }]]]))).toBe(
    '{"{\\"toString\\": 1}": [{"toString": 1}]}',
  )
  expect(valueText(new Map([[[{ toString: 1 }], 1]]))).toBe('{"[{\\"toString\\": 1}]": 1}')
})
