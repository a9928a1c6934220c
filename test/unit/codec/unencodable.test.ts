import { describe, expect, test } from 'vitest'
import { asReceived, DateTime, decode, encodeLocal, encodeNetwork } from '../../../core/codec/index.ts'

const circular: Record<string, unknown> = { list: [] }
;(circular.list as unknown[]).push({ a: circular })
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
const throwing = {
  inside: {
    get a() {
      throw new Error('no room')
    },
  },
}
async function* rows() {
  yield 1
}
class Loop {
  toJSON() {
    return new Loop()
  }
}

describe('an error names the place of the value that cannot be encoded', () => {
  test.each<[string, unknown, string]>([
    ['a function', () => 1, 'return is a function'],
    ['a symbol', { a: [1, Symbol('x')] }, 'return.a[1] is a symbol'],
    ['a method', { 'a b': { run() {} } }, 'return["a b"].run is a function'],
    ['a cycle', circular, 'return.list[0].a is circular'],
    ['a cycle in a Set', new Set([circular]), 'return[0].list[0].a is circular'],
    ['a function in a Map', new Map([['a', new Map([[7, () => 1]])]]), 'return.a.7 is a function'],
    ['a key that is a list', { a: new Map([[[1], 2]]) }, 'return.a has a key that is an array or a map'],
    ['a promise', { a: Promise.resolve(1) }, 'return.a is a promise; await it'],
    [
      'an iterator',
      { a: new Map([['x', 1]]).keys() },
      'return.a is an iterator; make a list of it, [...iterator]',
    ],
    ['a generator', { a: rows() }, 'return.a is an iterator; make a list of it, [...iterator]'],
    ['a getter that throws', throwing, 'return.inside cannot be read: no room'],
    ['what toJSON gives', { a: { b: new Loop() } }, 'is nested deeper than'],
    ['too many levels', nested(129), 'is nested deeper than'],
  ])('%s', (_, value, why) => {
    expect(() => asReceived(value, 'return')).toThrow(why)
    expect(() => encodeLocal(value)).toThrow(why.replace(/^return/, 'value'))
    expect(() => encodeNetwork(value)).toThrow(why.replace(/^return/, 'value'))
  })

  test('a value that occurs twice is no cycle, and 112 levels leave room for the enclosing message', () => {
    const twice = { a: 1 }
    expect(asReceived([twice, twice], 'return')).toEqual([twice, twice])
    expect(asReceived(nested(112), 'return')).toEqual(nested(112))
    expect(() => asReceived(nested(113), 'return')).toThrow('is nested deeper than 112 levels')
    expect(decode(encodeLocal(nested(128)))).toEqual(nested(128))
  })
})

class Point {
  x = 1
  readonly #hidden = 2
  get sum() {
    return this.x + this.#hidden
  }
}

test.each<[string, unknown, unknown]>([
  ['an instance is its own members', new Point(), { x: 1 }],
  ['an error is its name and message', { a: new TypeError('bad') }, { a: 'TypeError: bad' }],
  ['toJSON decides', [new URL('http://localhost/a'), { toJSON: 1 }], ['http://localhost/a', { toJSON: 1 }]],
  ['a date is a date-time', new Date(0), new DateTime('19700101T00:00:00.000000')],
  ['undefined is left out of maps and null elsewhere', { a: undefined, b: [undefined] }, { b: [null] }],
  ['nothing is null', undefined, null],
  ['a Map is a map, a Set a list', new Map([['a', new Set([1])]]), { a: [1] }],
  ['bytes that are text are text', Buffer.from('é'), 'é'],
  ['other bytes are bytes', Uint8Array.of(0xff), Buffer.of(0xff)],
  ['an ArrayBuffer is its bytes', Uint8Array.of(0x61, 0x62).buffer, 'ab'],
  ['numbers in a typed array are a list', Float64Array.of(0.5, 2), [0.5, 2]],
  ['large integers keep their digits', [2n ** 60n, 5n, 2n ** 70n], [2n ** 60n, 5, String(2n ** 70n)]],
])('%s', (_, value, received) => {
  expect(asReceived(value, 'return')).toEqual(received)
  expect(decode(encodeNetwork(value))).toEqual(received)
})
