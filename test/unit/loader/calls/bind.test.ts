import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Params, p } from '../../../../core/author/index.ts'
import { SaltError } from '../../../../core/base/errors.ts'
import { MASK } from '../../../../core/base/secret.ts'
import { Float } from '../../../../core/codec/index.ts'
import { splitArguments } from '../../../../core/loader/calls/arguments.ts'
import { bind } from '../../../../core/loader/calls/bind.ts'
import { Typed } from '../../../../core/loader/calls/typed.ts'
import { makeCheck } from '../../../../core/loader/calls/validate.ts'
import { SLOW } from '../../../harness/slow.ts'

function bound(params: Params, args: unknown[], kwargs: Record<string, unknown> = {}, pub = {}) {
  return bind({ name: 'mod.fun', args, kwargs, pub }, params, makeCheck(params))
}
function refusal(params: Params, args: unknown[], kwargs: Record<string, unknown> = {}): string {
  try {
    return JSON.stringify(bound(params, args, kwargs))
  } catch (error) {
    if (!SaltError.is(error)) throw error
    return `${error.code}: ${error.message}`
  }
}

describe('binding', () => {
  const params = { who: p.string(), times: p.default(p.integer(), 1), loud: p.optional(p.boolean()) }

  test('takes arguments by position and by name, and fills in defaults', () => {
    expect(bound(params, ['bob'])).toEqual({ who: 'bob', times: 1 })
    expect(bound(params, ['bob', 3, true])).toEqual({ who: 'bob', times: 3, loud: true })
    expect(bound(params, [], { loud: false, who: 'bob' })).toEqual({ who: 'bob', times: 1, loud: false })
  })
  test('passes further positions to rest, and other names to keywords', () => {
    const open = {
      first: p.any(),
      rest: p.rest(p.any()),
      last: p.optional(p.any()),
      others: p.keywords(p.any()),
    }
    expect(bound(open, [1, 2, 3], { last: 4, x: 5, rest: 6 })).toEqual({
      first: 1,
      rest: [2, 3],
      last: 4,
      others: { x: 5, rest: 6 },
    })
    expect(bound(open, [1])).toEqual({ first: 1, rest: [], others: {} })
  })
  test('job fields are passed only to parameters of their names', () => {
    const job = { fun: 'mod.fun', jid: '1', arg: ['token=abc'] }
    const integers = { others: p.keywords(p.integer()) }
    expect(bound(integers, [], { a: '1' }, job)).toEqual({ others: { a: 1 } })
    const named = { __pub_jid: p.optional(p.string()), others: p.keywords(p.any()) }
    expect(bound(named, [], { a: 1 }, job)).toEqual({ __pub_jid: '1', others: { a: 1 } })
    expect(bound(params, ['bob'], { __pub_fun: 'x' }, job)).toEqual({ who: 'bob', times: 1 })
  })
  test('callers cannot set job fields', () => {
    const named = { __pub_user: p.optional(p.string()), others: p.keywords(p.any()) }
    const forged = { __pub_user: 'root', __pub_fun: 'x.y' }
    expect(bound(named, [], forged, { user: 'ann' })).toEqual({ __pub_user: 'ann', others: {} })
    expect(bound(named, [], forged, {})).toEqual({ others: {} })
    const nested = bind({ name: 'mod.fun', args: [], kwargs: forged }, named, makeCheck(named))
    expect(nested).toEqual({ __pub_user: 'root', others: {} })
  })

  test('refuses unknown names in the words of Salt', () => {
    expect(refusal(params, ['bob'], { badarg: 1 })).toBe(
      'INVOCATION: The following keyword arguments are not valid: badarg=1',
    )
    expect(refusal(params, ['bob'], { a: true, constructor: null, c: 'x y' })).toBe(
      'INVOCATION: The following keyword arguments are not valid: a=True, constructor=None, c=x y',
    )
    expect(refusal(params, ['bob'], { ids: [9007199254740993n] })).toBe(
      'INVOCATION: The following keyword arguments are not valid: ids=[9007199254740993]',
    )
  })
  test('shows no value of unknown names if the name or another parameter is secret', () => {
    const message = (list: string) => `INVOCATION: The following keyword arguments are not valid: ${list}`
    expect(refusal(params, ['bob'], { db: { token: 'x' }, password: 'x', b: 1 })).toBe(
      message(`db={"token": "${MASK}"}, password=${MASK}, b=1`),
    )
    expect(refusal({ key: p.secret(p.string()) }, [], { kye: 'x' })).toBe(message(`kye=${MASK}`))
  })
  test('refuses too many, too few and doubled arguments in the words of Python', () => {
    const wrong = (reason: string) => `INVALID_ARGUMENTS: Passed invalid arguments to mod.fun: ${reason}`
    expect(refusal({}, [1])).toBe(wrong('fun() takes 0 positional arguments but 1 was given'))
    expect(refusal({ a: p.any() }, [1, 2])).toBe(wrong('fun() takes 1 positional argument but 2 were given'))
    expect(refusal(params, [1, 2, true, 4])).toBe(
      wrong('fun() takes from 1 to 3 positional arguments but 4 were given'),
    )
    expect(refusal(params, [])).toBe(wrong("fun() missing 1 required positional argument: 'who'"))
    expect(refusal({ a: p.any(), b: p.any(), c: p.any() }, [])).toBe(
      wrong("fun() missing 3 required positional arguments: 'a', 'b', and 'c'"),
    )
    expect(refusal(params, ['bob'], { who: 'eve' })).toBe(
      wrong("fun() got multiple values for argument 'who'"),
    )
  })
  test('null counts as not given for an optional parameter, is a value where any type is allowed, and is refused otherwise', () => {
    expect(bound(params, ['bob', null, null])).toEqual({ who: 'bob', times: 1 })
    expect(bound({ a: p.any() }, [null])).toEqual({ a: null })
    expect(refusal(params, [null])).toContain("'who' must be a string, not null")
  })
  test('a default that is a list or map is copied for every call', () => {
    const list = { items: p.default(p.array(p.string()), []) }
    expect(bound(list, []).items).not.toBe(bound(list, []).items)
  })
  test('a default gets the defaults that are declared inside it, copied for every call', () => {
    const inner = p.object({ a: p.default(p.integer(), 1), list: p.default(p.array(p.string()), []) })
    const nested = {
      o: p.default(inner, {}),
      items: p.default(p.array(inner), [{}]),
      deep: p.default(p.nullable(p.object({ i: p.default(inner, { a: 2 }) })), {}),
    }
    const filled = { a: 1, list: [] }
    const expected = { o: filled, items: [filled], deep: { i: { a: 2, list: [] } } }
    const first = bound(nested, []) as typeof expected
    first.o.list.push('x' as never)
    first.deep.i.list.push('x' as never)
    expect(bound(nested, [])).toEqual(expected)
    expect(bound(nested, [], { deep: {} })).toEqual(expected)
  })
})

describe('coercion towards the declared type', () => {
  const one = (param: Params[string], value: unknown) => bound({ v: param }, [value]).v

  test.each([
    ['a number', 5, '5'],
    ['a jid, too large for a number', 20240101123456789012n, '20240101123456789012'],
    ['a float that is whole', new Float(3), '3.0'],
    ['a boolean', true, 'true'],
    ['text', '0755', '0755'],
  ])('to text: %s', (_, value, text) => expect(one(p.string(), value)).toBe(text))

  test.each([
    ['numeric text', '5.5', 5.5],
    ['a float that is whole', new Float(3), 3],
    ['a bigint that fits', 12n, 12],
    ['text with an exponent', '1e3', 1000],
  ])('to a number: %s', (_, value, number) => expect(one(p.number(), value)).toBe(number))

  test.each([
    ...['yes', 'on', 'true', 'True', '1', 1].map((word) => [word, true] as const),
    ...['no', 'off', 'false', 'FALSE', '0', 0].map((word) => [word, false] as const),
  ])('to a boolean: %s', (word, boolean) => expect(one(p.boolean(), word)).toBe(boolean))

  test.each([
    ['a scalar', 5, ['5']],
    ['text with commas', 'a, b,c', ['a', 'b', 'c']],
    ['a list', ['a', 1], ['a', '1']],
    ['empty text', '', []],
  ])('to a list: %s', (_, value, list) => expect(one(p.array(p.string()), value)).toEqual(list))

  test('to a map: keys become text, values the declared type', () => {
    expect(one(p.record(p.string()), new Map<unknown, unknown>([[1, 2]]))).toEqual({ 1: '2' })
    expect(one(p.object({ x: p.number() }), { x: '2' })).toEqual({ x: 2 })
  })
  test('to one of several types: the type that the value already has comes first', () => {
    const union = p.union(p.number(), p.string())
    expect(one(union, '5')).toBe('5')
    expect(one(union, 5)).toBe(5)
    expect(one(p.union(p.boolean(), p.array(p.number())), 'yes')).toBe(true)
  })
  test('to a word that YAML reads as a boolean', () => {
    expect(one(p.enum('on', 'off', 'auto'), true)).toBe('on')
    expect(one(p.enum('yes', 'no'), false)).toBe('no')
  })
  test('without a declared type does not change a value, not even a whole float', () => {
    const float = new Float(1)
    expect(one(p.any(), float)).toBe(float)
    expect(bound({ rest: p.rest(p.any()) }, [float, 1n])).toEqual({ rest: [float, 1n] })
  })
  test('any value is converted to the declared type or refused', SLOW, () => {
    const params = { s: p.string(), n: p.number(), b: p.boolean(), l: p.array(p.integer()) }
    const anything = fc.anything({ withBigInt: true, withMap: true, withNullPrototype: true })
    fc.assert(
      fc.property(fc.tuple(anything, anything, anything, anything), (args) => {
        try {
          const { s, n, b, l } = bound(params, args)
          expect([typeof s, typeof n, typeof b, Array.isArray(l)]).toEqual([
            'string',
            'number',
            'boolean',
            true,
          ])
        } catch (error) {
          if (!SaltError.is(error)) throw error
          expect(error.code).toBe('INVALID_ARGUMENTS')
        }
      }),
    )
  })
})

describe('validation', () => {
  const reason = (params: Params, value: unknown) => refusal(params, [value]).replace(/^.*mod\.fun: /, '')

  test('names the parameter, the expected and the given value', () => {
    expect(reason({ n: p.number({ minimum: 0 }) }, -1)).toBe("'n' must be at least 0, not -1")
    expect(reason({ n: p.number() }, 'soon')).toBe(`'n' must be a number, not "soon"`)
    expect(reason({ u: p.enum('s', 'ms') }, 'h')).toBe(`'u' must be one of "s", "ms", not "h"`)
    expect(reason({ s: p.string({ pattern: '^a' }) }, 'b')).toBe(`'s' must match the pattern ^a, not "b"`)
    expect(reason({ s: p.string({ format: 'ipv4' }) }, '1.2.3')).toBe(
      `'s' must be an IPv4 address, not "1.2.3"`,
    )
    expect(reason({ o: p.union(p.number(), p.boolean()) }, 'maybe')).toBe(
      `'o' must be a number or a boolean, not "maybe"`,
    )
  })
  test('members of a map get their defaults, and may be omitted', () => {
    const point = p.object({ x: p.number(), y: p.default(p.number(), 7), z: p.optional(p.number()) })
    expect(bound({ point }, [{ x: '1' }])).toEqual({ point: { x: 1, y: 7 } })
    expect(reason({ point }, {})).toBe(`'point' must have the key "x"`)
  })
  test('names the position inside a list or map', () => {
    expect(reason({ l: p.array(p.number()) }, [1, 'x'])).toBe(`'1' in 'l' must be a number, not "x"`)
    expect(reason({ o: p.object({ x: p.number() }) }, { x: 1, y: 2 })).toBe(`'o' must not have the key "y"`)
  })
  test('does not show the value of a secret', () => {
    expect(reason({ key: p.secret(p.string({ minLength: 8 })) }, 'hunter2')).not.toContain('hunter2')
  })
  test('parameters may be named like members of Object', () => {
    const params = { constructor: p.number(), toString: p.optional(p.string()) }
    expect(bound(params, [1])).toEqual({ constructor: 1 })
  })
})

describe('splitting the arguments of a job', () => {
  test('maps marked __kwarg__ and words name=value are keywords', () => {
    expect(splitArguments([1, { __kwarg__: true, a: 1 }, 'b=2', { a: 3 }, 'x==y', '=z', 'a b=c'])).toEqual({
      args: [1, { a: 3 }, 'x==y', '=z', 'a b=c'],
      kwargs: { a: 1, b: new Typed(2, '2') },
    })
  })
  test('a map with keys of other types is accepted, too', () => {
    const map = new Map<unknown, unknown>([
      ['__kwarg__', true],
      [1, 'one'],
      ['__proto__', 'x'],
    ])
    const { kwargs } = splitArguments([map])
    expect(Object.entries(kwargs)).toEqual([
      ['1', 'one'],
      ['__proto__', 'x'],
    ])
  })
})
