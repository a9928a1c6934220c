import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Params, p } from '../../../../core/author/index.ts'
import { callsOf, predictCall, suggestName } from '../../../../core/loader/calls/check-call.ts'
import { checkTypes } from '../../../../core/loader/calls/check-types.ts'
import { makeCheck } from '../../../../core/loader/calls/validate.ts'
import { readCatalogue, readSentence } from '../../../../core/loader/describe/read-catalogue.ts'

const catalogueOf = (functions: Record<string, Params | null>, missing: Record<string, string> = {}) =>
  readCatalogue(JSON.stringify({ functions, missing }))!
const call = (fun: string, ...arg: unknown[]) => ({ fun, arg })

const sleep = { seconds: p.number({ minimum: 0 }), unit: p.default(p.enum('s', 'ms'), 's') }
const catalogue = catalogueOf(
  { 'test.ping': {}, 'test.sleep': sleep, 'old.add': null, 'a.open': { all: p.keywords(p.any()) } },
  {
    pkg: "'pkg' __virtual__ returned False: needs apt",
    bad: "'bad.*' is not available. Possible reasons: 'x'",
  },
)

describe('the check of a call returns', () => {
  test('the values that its function would get', () => {
    expect(predictCall(call('test.sleep', '5', { __kwarg__: true, unit: 'ms' }), catalogue)).toMatchObject({
      values: { seconds: 5, unit: 'ms' },
    })
    expect(predictCall(call('old.add', 1), catalogue)).toMatchObject({ values: undefined })
  })
  test('the sentence with which its minion would refuse it', () => {
    const refusal = (...given: Parameters<typeof call>) => predictCall(call(...given), catalogue)
    expect(refusal('test.pign')).toEqual({ refusal: "'test.pign' is not available." })
    expect(refusal('pkg.install')).toEqual({ refusal: "'pkg' __virtual__ returned False: needs apt" })
    expect(refusal('bad.x$&')).toEqual({ refusal: "'bad.x$&' is not available. Possible reasons: 'x'" })
    expect(refusal('constructor')).toEqual({ refusal: "'constructor' is not available." })
    expect(refusal('test.sleep')).toEqual({
      refusal:
        "Passed invalid arguments to test.sleep: sleep() missing 1 required positional argument: 'seconds'",
    })
    expect(refusal('test.sleep', -1)).toEqual({
      refusal: "Passed invalid arguments to test.sleep: 'seconds' must be at least 0, not -1",
    })
    expect(refusal('test.ping', 'x=1')).toEqual({
      refusal: "ERROR executing 'test.ping': The following keyword arguments are not valid: x=1",
    })
  })
  test('the name that was probably intended', () => {
    expect(suggestName(call('test.pign'), catalogue)).toBe('test.ping')
    expect(suggestName(call('test.sleep', 1, 'unti=ms'), catalogue)).toBe('unit')
    expect(suggestName(call('pkg.install'), catalogue)).toBeUndefined()
    expect(suggestName(call('a.open', 'al=1'), catalogue)).toBeUndefined()
    expect(suggestName(call('old.add', 'x=1'), catalogue)).toBeUndefined()
  })
  test('the results of several calls for a job of several functions', () => {
    const words = [null, { args: ['1.10'], kwargs: {} }]
    expect(callsOf({ fun: ['a.b', 'c.d', 'e.f'], arg: [[1], [1.1]], words })).toEqual([
      { fun: 'a.b', arg: [1] },
      { fun: 'c.d', arg: [1.1], words: { args: ['1.10'], kwargs: {} } },
      { fun: 'e.f', arg: [] },
    ])
  })
})

describe('types are checked as the minion does', () => {
  const params = {
    text: p.string({ minLength: 2, maxLength: 3 }),
    number: p.number({ minimum: 1, maximum: 5 }),
    integer: p.integer(),
    boolean: p.boolean(),
    word: p.enum('a', 'b'),
    list: p.array(p.integer()),
    record: p.record(p.boolean()),
    shape: p.object({ name: p.string(), age: p.optional(p.integer()) }),
    either: p.union(p.integer(), p.array(p.string())),
    any: p.any(),
  }
  const [own, full] = [checkTypes(params), makeCheck(params)]
  const value = fc.oneof(
    fc.constantFrom<unknown>('', 'a', 'ab', 'abcd', 'żółw', 0, 1, 3.5, 7, true, null, [], [1], ['x'], {}),
    fc.constantFrom<unknown>(
      { name: 'x' },
      { name: 1 },
      { name: 'x', age: 'y' },
      { age: 1 },
      { name: 'x', z: 1 },
    ),
    fc.constantFrom<unknown>({ a: true }, { a: 1 }, [1, 'x'], [[1]]),
  )
  test('with the same messages', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(params)), value, (name, given) => {
        expect(own({ [name]: given })).toBe(full({ [name]: given }))
      }),
      { numRuns: 1000 },
    )
  })
  test('expressions are left to the minion, and secrets are not shown', () => {
    const slow = { text: p.string({ pattern: '^(a+)+$' }), key: p.secret(p.integer()) }
    expect(checkTypes(slow)({ text: `${'a'.repeat(60)}!` })).toBeUndefined()
    expect(checkTypes(slow)({ key: 'hunter2' })).toBe("'key' must be an integer")
  })
})

describe('a catalogue from another host', () => {
  test.each(['', 'null', '[]', '{}', '{"functions":1,"missing":{}}', '{"functions":{},"missing":[]}', '{'])(
    'is ignored: %s',
    (text) => expect(readCatalogue(text)).toBeUndefined(),
  )

  const nested = (levels: number, wrap: (schema: unknown) => unknown): unknown =>
    levels === 0 ? { type: 'string' } : wrap(nested(levels - 1, wrap))
  test.each([
    ['no map', 7],
    ['an unknown kind', { a: { kind: 'magic', schema: {} } }],
    ['no schema', { a: { kind: 'value' } }],
    ['several types', { a: { kind: 'value', schema: { type: ['string'] } } }],
    ['members that are no texts', { a: { kind: 'value', schema: { enum: [{}] } } }],
    [
      'a schema that is nested very deep',
      { a: { kind: 'value', schema: nested(40, (items) => ({ items })) } },
    ],
    [
      'nested unions, which are expensive',
      { a: { kind: 'value', schema: nested(8, (schema) => ({ anyOf: [schema, schema] })) } },
    ],
  ])('has unknown parameters with %s', (_, params) => {
    const read = readCatalogue(JSON.stringify({ functions: { 'a.b': params, 'test.ping': {} }, missing: {} }))
    expect(read?.functions).toEqual({ 'a.b': null, 'test.ping': {} })
    expect(read?.unreadable).toEqual(new Set(['a.b'])) // some of them may be secret
  })
  test('has only names as names', () => {
    const text =
      '{"functions":{"__proto__":{},"a.b":{"__proto__":{"kind":"value","schema":{}}}},"missing":{}}'
    const read = readCatalogue(text)!
    expect(predictCall(call('toString'), read)).toEqual({ refusal: "'toString' is not available." })
    expect(read.functions['a.b']).toBeNull()
  })
  test('has short sentences without control characters', () => {
    expect(readSentence('a\u001b[31mb\r\nc')).toBe('a [31mb c')
    expect(readSentence('x'.repeat(10_000))).toHaveLength(2_000)
    for (const nothing of [5, '', ' \u0000\n']) expect(readSentence(nothing)).toBe('it gave no reason')
  })
})
