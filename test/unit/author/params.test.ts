import { describe, expect, test } from 'vitest'
import { fn, isFn, p } from '../../../core/author/index.ts'

describe('fn', () => {
  test('keeps the parameters in the order they are declared', () => {
    const made = fn({ b: p.string(), a: p.number(), rest: p.rest(p.any()) }, () => true)
    expect(Object.keys(made.params)).toEqual(['b', 'a', 'rest'])
  })
  test('accepts a function alone', () => {
    const made = fn(() => 'x')
    expect(made.params).toEqual({})
    expect(made.run({}, {} as never)).toBe('x')
  })
  test('is recognised when another copy of the package made it', () => {
    expect(isFn(fn(() => true))).toBe(true)
    expect(isFn({ [Symbol.for('salt-ts.fn')]: true, params: {}, run: () => true })).toBe(true)
    expect([() => true, null, {}, 'fn'].some(isFn)).toBe(false)
  })
})

describe('an invalid declaration is refused with what to write', () => {
  const run = () => true
  // biome-ignore lint/suspicious/noExplicitAny: authors of JavaScript have no types
  const any = (value: unknown) => value as any
  test.each<[string, () => unknown, string]>([
    [
      'a type as text',
      () => fn(any({ a: 'integer' }), run),
      'The parameter \'a\' of fn() is "integer"; declare it with a call, such as p.integer()',
    ],
    [
      'any other text',
      () => fn(any({ a: 'text' }), run),
      '\'a\' of fn() is "text"; declare it with a call, such as p.string()',
    ],
    [
      'a builder that was not called',
      () => fn(any({ a: p.boolean }), run),
      "'a' of fn() is a function; declare it with a call, such as p.boolean()",
    ],
    [
      'a builder inside another',
      () => p.array(any(p.integer)),
      'The argument of p.array() is a function; declare it with a call, such as p.integer()',
    ],
    ['a member of a map', () => p.object(any({ x: 'number' })), 'The argument of p.object() is "number"'],
    [
      'a member of a union',
      () => p.union(any('number'), p.string()),
      'The argument of p.union() is "number"',
    ],
    ['what may be left out', () => p.optional(any('number')), 'The argument of p.optional() is "number"'],
    ['further values', () => p.rest(any(undefined)), 'The argument of p.rest() is undefined'],
    [
      'words in a list',
      () => p.enum(any(['a', 'b'])),
      'p.enum() takes strings, as in p.enum(\'a\', \'b\'), but was given [["a","b"]]',
    ],
    ['numbers as words', () => p.enum(any(1)), 'p.enum() takes strings'],
    ['an invalid pattern', () => p.string({ pattern: '(' }), 'Invalid regular expression'],
    ['no function', () => fn(any({ a: p.string() }), any(undefined)), 'fn() needs a function to run'],
    ['two functions', () => fn(any(run), run), 'The first argument of fn() is not a map of parameters'],
    [
      'a result',
      () => fn({}, run, { returns: any('string') }),
      'returns of fn() is "string"; declare it with a call, such as p.string()',
    ],
  ])('%s', (_, declare, sentence) => {
    expect(declare).toThrow(sentence)
  })
})

describe('p', () => {
  test('makes JSON Schema', () => {
    expect(p.string({ minLength: 1, description: 'a name' }).schema).toEqual({
      type: 'string',
      minLength: 1,
      description: 'a name',
    })
    expect(p.enum('a', 'b').schema).toEqual({ type: 'string', enum: ['a', 'b'] })
    expect(p.array(p.integer()).schema).toEqual({ type: 'array', items: { type: 'integer' } })
    expect(p.union(p.string(), p.boolean()).schema).toEqual({
      anyOf: [{ type: 'string' }, { type: 'boolean' }],
    })
    expect(p.any().schema).toEqual({})
  })
  test('an object requires all parameters that are not optional and allows no other keys', () => {
    expect(p.object({ x: p.number(), y: p.optional(p.number()) }).schema).toEqual({
      type: 'object',
      properties: { x: { type: 'number' }, y: { type: 'number' } },
      required: ['x'],
      additionalProperties: false,
    })
  })
  test('wrappers keep the properties of the parameter that they wrap', () => {
    const param = p.secret(p.default(p.string({ minLength: 8 }), 'changeme'))
    expect(param).toMatchObject({ kind: 'value', optional: true, default: 'changeme', secret: true })
    expect(param.schema).toEqual({ type: 'string', minLength: 8 })
  })
})
