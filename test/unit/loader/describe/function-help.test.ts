import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Declarations, fn, p } from '../../../../core/author/index.ts'
import { functionHelp, paramInWords } from '../../../../core/loader/describe/function-help.ts'

const signature = (params: Declarations, returns = {}) =>
  fn(params, () => undefined as never, returns as never)

/** Return what a parameter takes, in words. */
const words = (param: Declarations[string]) => paramInWords(signature({ param }).params.param!).takes

describe('a parameter in words', () => {
  test.each([
    ['string', p.string()],
    ['integer, at least 1, at most 9, default 3', p.default(p.integer({ minimum: 1, maximum: 9 }), 3)],
    ['"test" or "live", default "test"', p.default(p.enum('test', 'live'), 'test')],
    ['string, at least 1 character, optional', p.optional(p.string({ minLength: 1 }))],
    ['string, matching the pattern ^\\d+$', p.string({ pattern: '^\\d+$' })],
    ['string, an IPv4 address', p.string({ format: 'ipv4' })],
    [
      'array of strings, at least 1 item, without the same item twice',
      p.array(p.string(), { minItems: 1, uniqueItems: true }),
    ],
    ['array of (integer or null)', p.array(p.nullable(p.integer()))],
    ['array', p.array(p.any())],
    ['object of numbers', p.record(p.number())],
    ['object', p.record(p.any())],
    [
      'object with host (string) and port (integer, optional)',
      p.object({ host: p.string(), port: p.optional(p.integer()) }),
    ],
    ['5, bytes in base64 or any value', p.union(p.literal(5), p.bytes(), p.any())],
    ['integer, at least 1, any number by position', p.rest(p.integer({ minimum: 1 }))],
    ['any value, any number by name', p.keywords(p.any())],
    ['string, optional, secret', p.secret(p.default(p.string(), 'hunter2'))],
    ['string or null, optional', p.optional(z.string().nullable())],
  ])('is %s', (expected, param) => {
    expect(words(param)).toBe(expected)
  })

  test('has its description; that of a duration explains its format', () => {
    const { params } = signature({ name: p.described(p.string(), 'Who.'), wait: p.default(p.duration(), 5) })
    expect(paramInWords(params.name!)).toEqual({ takes: 'string', description: 'Who.' })
    expect(paramInWords(params.wait!)).toEqual({
      takes: 'number or string, default 5',
      description: 'Seconds, or a duration such as 90s, 5m or 1h30m.',
    })
  })

  test('of another host can have any schema', () => {
    const odd = { anyOf: [null, 5, { type: ['string', 'null'] }], minimum: {}, enum: 'no' }
    expect(paramInWords({ kind: 'value', schema: odd })).toEqual({
      takes: 'any value or string or null, at least [object Object]',
    })
  })
})

describe('the help of a function', () => {
  test('is its documentation, its parameters and its result', () => {
    const declared = signature(
      { name: p.described(p.string(), 'The name,\nin full.'), times: p.default(p.integer(), 1) },
      { returns: p.described(p.array(p.string()), 'Greetings.') },
    )
    expect(functionHelp('Greet somebody.', declared)).toBe(
      [
        'Greet somebody.',
        '',
        'Parameters:',
        '',
        '    name: string',
        '        The name,',
        '        in full.',
        '    times: integer, default 1',
        '',
        'Returns:',
        '',
        '    array of strings',
        '        Greetings.',
      ].join('\n'),
    )
  })
  test('is its documentation alone if nothing is declared', () => {
    expect(functionHelp('Ping.', signature({}))).toBe('Ping.')
    expect(functionHelp('Ping.', { params: null })).toBe('Ping.')
    expect(functionHelp('Ping.', undefined)).toBe('Ping.')
  })
  test('is its parameters alone where there is no documentation', () => {
    expect(functionHelp(undefined, signature({ n: p.number() }))).toBe('Parameters:\n\n    n: number')
    expect(functionHelp(undefined, signature({}))).toBeUndefined()
  })
})
