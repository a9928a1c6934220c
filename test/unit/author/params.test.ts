import { describe, expect, test } from 'vitest'
import { fn, isFn, p } from '../../../core/author/index.ts'

describe('fn', () => {
  test('keeps the parameters in the order they are declared', () => {
    const made = fn({ b: p.string(), a: p.number(), rest: p.rest(p.any()) }, () => true)
    expect(Object.keys(made.params)).toEqual(['b', 'a', 'rest'])
  })
  test('takes a function alone', () => {
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

describe('p', () => {
  test('gives JSON Schema', () => {
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
  test('an object requires what is not optional and takes no other keys', () => {
    expect(p.object({ x: p.number(), y: p.optional(p.number()) }).schema).toEqual({
      type: 'object',
      properties: { x: { type: 'number' }, y: { type: 'number' } },
      required: ['x'],
      additionalProperties: false,
    })
  })
  test('wrappers add to what they wrap', () => {
    const param = p.secret(p.default(p.string({ minLength: 8 }), 'changeme'))
    expect(param).toMatchObject({ kind: 'value', optional: true, default: 'changeme', secret: true })
    expect(param.schema).toEqual({ type: 'string', minLength: 8 })
  })
})
