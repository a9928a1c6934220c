import { describe, expect, test } from 'vitest'
import { fn, type Param, type Params, p } from '../../../../core/author/index.ts'
import { bind } from '../../../../core/loader/calls/bind.ts'
import { checkTypes } from '../../../../core/loader/calls/check-types.ts'
import { typed } from '../../../../core/loader/calls/typed.ts'
import { makeCheck } from '../../../../core/loader/calls/validate.ts'
import { makeLoaded } from '../../../../core/loader/functions.ts'

const bound = (params: Params, args: unknown[]) =>
  bind({ name: 'mod.fun', args, kwargs: {} }, params, makeCheck(params))

function reason(params: Params, value: unknown): string {
  try {
    return JSON.stringify(bound(params, [value]))
  } catch (error) {
    return (error as Error).message.replace(/^.*mod\.fun: /, '')
  }
}

describe('a refused value is described in plain words', () => {
  /** Every keyword of JSON Schema that `p.*` can make; expressions are for the host of the function only. */
  const keywords: [Param<unknown>, unknown, string][] = [
    [p.number({ minimum: 1 }), 0, 'must be at least 1, not 0'],
    [p.number({ maximum: 1 }), 2, 'must be at most 1, not 2'],
    [p.number({ exclusiveMinimum: 0 }), 0, 'must be greater than 0, not 0'],
    [p.number({ exclusiveMaximum: 2 }), 2.5, 'must be less than 2, not 2.5'],
    [p.string({ minLength: 2 }), 'é', 'must have at least 2 characters, not "é"'],
    [p.string({ minLength: 1 }), '', 'must have at least 1 character, not ""'],
    [p.string({ maxLength: 1 }), 'ab', 'must have at most 1 character, not "ab"'],
    [p.array(p.integer(), { minItems: 2 }), [1], 'must have at least 2 items, not [1]'],
    [p.array(p.integer(), { maxItems: 1 }), [1, 2], 'must have at most 1 item, not [1,2]'],
    [p.record(p.any(), { minProperties: 1 }), {}, 'must have at least 1 key, not {}'],
    [p.record(p.any(), { maxProperties: 1 }), { a: 1, b: 2 }, 'must have at most 1 key, not {"a":1,"b":2}'],
    [p.object({ x: p.any() }), {}, 'must have the key "x"'],
    [p.object({}), { y: 1 }, 'must not have the key "y"'],
    [p.enum('s', 'ms'), 'h', 'must be one of "s", "ms", not "h"'],
    [p.enum('all'), 'h', 'must be "all", not "h"'],
    [p.integer(), 1.5, 'must be an integer, not 1.5'],
    [p.boolean(), 'maybe', 'must be a boolean, not "maybe"'],
    [
      p.union(p.integer(), p.enum('now', 'later')),
      'soon',
      'must be an integer or one of "now", "later", not "soon"',
    ],
    [p.union(p.integer(), p.enum('now')), 'soon', 'must be an integer or "now", not "soon"'],
    [p.union(p.enum('a'), p.enum('b', 'c')), 'd', 'must be one of "a", "b", "c", not "d"'],
    [
      p.union(p.integer(), p.union(p.boolean(), p.enum('now'))),
      'x',
      'must be an integer or a boolean or "now", not "x"',
    ],
    [p.union(p.integer(), p.string({ minLength: 2 })), 'x', 'must have at least 2 characters, not "x"'],
    [p.union(p.number({ minimum: 3 }), p.boolean()), 2, 'must be at least 3, not 2'],
    [p.union(p.object({ x: p.number() }), p.boolean()), {}, 'must have the key "x"'],
  ]
  test.each(keywords)('%j refuses %j', (param, value, sentence) => {
    expect(reason({ it: param }, value)).toBe(`'it' ${sentence}`)
    const there = checkTypes({ it: param })({ it: value })
    expect(there).toBe(`'it' ${sentence}`)
  })
  test.each<[Param<unknown>, unknown, string]>([
    [p.integer({ multipleOf: 8 }), 12, 'must be a multiple of 8, not 12'],
    [p.array(p.integer(), { uniqueItems: true }), [1, 1], 'must not have the same item twice, not [1,1]'],
    [p.string({ pattern: '^a' }), 'b', 'must match the pattern ^a, not "b"'],
    [p.string({ format: 'date' }), 'soon', 'must be a date such as 2026-01-31, not "soon"'],
    [
      p.string({ format: 'date-time' }),
      'soon',
      'must be a date and time such as 2026-01-31T12:00:00Z, not "soon"',
    ],
    [p.string({ format: 'hostname' }), 'a b', 'must be a host name, not "a b"'],
    [p.string({ format: 'ipv4' }), '1.2.3', 'must be an IPv4 address, not "1.2.3"'],
    [p.string({ format: 'ipv6' }), '1.2.3', 'must be an IPv6 address, not "1.2.3"'],
    [p.string({ format: 'regex' }), '(', 'must be a regular expression, not "("'],
    [p.string({ format: 'uri' }), 'a b', 'must be a URI such as https://example.com/, not "a b"'],
    [p.union(p.integer(), p.string({ pattern: '^a' })), 'b', 'must match the pattern ^a, not "b"'],
  ])('%j refuses %j where the function runs', (param, value, sentence) => {
    expect(reason({ it: param }, value)).toBe(`'it' ${sentence}`)
    expect(checkTypes({ it: param })({ it: value })).toBeUndefined()
  })
  describe('an integer that a JavaScript number cannot hold exactly is refused', () => {
    const range = 'must be an integer from -9007199254740991 to 9007199254740991'
    test.each<[unknown, string]>([
      [2n ** 53n + 1n, '9007199254740993'],
      ['9007199254740993', '9007199254740993'],
      ['-9007199254740993', '-9007199254740993'],
      [2 ** 53, '9007199254740992'],
      ['1e20', '100000000000000000000'],
      [typed('9007199254740993'), '9007199254740993'],
    ])('%s', (value, shown) => {
      expect(reason({ n: p.integer() }, value)).toBe(`'n' ${range}, not ${shown}`)
      expect(reason({ n: p.integer({ minimum: 0, multipleOf: 1 }) }, value)).toContain(`'n' ${range}`)
      expect(reason({ l: p.array(p.integer()) }, [value])).toContain(range)
    })
    test('also in whole numbers of another host, and in results', () => {
      expect(checkTypes({ n: p.integer() })({ n: 2n ** 60n })).toContain(range)
      const loaded = makeLoaded(
        'a.b',
        fn({}, () => 2 ** 60, { returns: p.integer() }),
        undefined,
      )
      return expect(loaded.run({}, {} as never)).rejects.toThrow(range)
    })
    test('a float is the nearest JavaScript number', () => {
      expect(bound({ n: p.number() }, [2n ** 53n + 1n])).toEqual({ n: 2 ** 53 })
    })
  })
})
