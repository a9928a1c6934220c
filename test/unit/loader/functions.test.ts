import { describe, expect, test } from 'vitest'
import { type Context, type Fn, fn, p, type Schema } from '../../../core/author/index.ts'
import { makeLoaded } from '../../../core/loader/functions.ts'

const context = {} as Context
const run = (made: Pick<Fn, 'params' | 'returns'>) =>
  makeLoaded('size.of', made as Fn, undefined).run({}, context)

describe('a result that is declared', () => {
  test('is returned when it fits', async () => {
    expect(await run(fn({}, () => 7, { returns: p.integer() }))).toBe(7)
    expect(await run(fn({}, async () => ({ x: 1 }), { returns: p.object({ x: p.number() }) }))).toEqual({
      x: 1,
    })
    expect(await run(fn({}, () => undefined, { returns: p.optional(p.string()) }))).toBe(undefined)
  })
  test('is an error of the function if the value does not fit', async () => {
    const wrong = fn({}, () => JSON.parse('"large"') as number, { returns: p.integer() })
    await expect(run(wrong)).rejects.toMatchObject({
      code: 'RESULT_INVALID',
      message: `The result of size.of is not what it declares in 'returns': 'result' must be an integer, not "large"`,
    })
    const deep = fn({}, () => JSON.parse('{"x":"1"}') as { x: number }, {
      returns: p.object({ x: p.number() }),
    })
    await expect(run(deep)).rejects.toThrow(`'x' in 'result' must be a number, not "1"`)
  })
  test('may be bytes and dates themselves, or their texts', async () => {
    const bytes = new Uint8Array([255, 1])
    const at = new Date('2026-01-31T12:00:00Z')
    expect(await run(fn({}, () => Buffer.from(bytes), { returns: p.bytes() }))).toEqual(Buffer.from(bytes))
    expect(await run(fn({}, () => '/wE=', { returns: p.bytes() }))).toBe('/wE=')
    expect(await run(fn({}, async () => at, { returns: p.date() }))).toBe(at)
    expect(await run(fn({}, () => at, { returns: p.dateTime() }))).toBe(at)
    const nested = p.object({
      parts: p.array(p.bytes()),
      from: p.default(p.date(), '2026-01-31'),
      until: p.optional(p.union(p.literal('ever'), p.dateTime())),
      by: p.record(p.nullable(p.date())),
    })
    const result = { parts: [bytes, '/wE='], until: at, by: { a: at, b: '2026-01-31', c: null } }
    expect(await run(fn({}, () => result, { returns: nested }))).toBe(result)
    const either = p.union(p.object({ size: p.integer() }), p.object({ bytes: p.bytes() }))
    expect(await run(fn({}, () => ({ bytes }), { returns: either }))).toEqual({ bytes })
  })
  test('rejects bytes and dates for a text, and an invalid date', async () => {
    const given = (value: unknown, returns: Schema) => run(fn({}, () => value as never, { returns }))
    const at = new Date('2026-01-31T12:00:00Z')
    await expect(given(Buffer.from('x'), p.string())).rejects.toThrow("'result' must be a string")
    await expect(given(at, p.string({ format: 'date-time' }))).rejects.toThrow("'result' must be a string")
    await expect(given(at, p.bytes())).rejects.toThrow("'result' must be a string")
    await expect(given([at], p.array(p.union(p.integer(), p.bytes())))).rejects.toThrow("'0' in 'result'")
    await expect(given(new Date(Number.NaN), p.date())).rejects.toThrow("'result' must be a string")
    const later = p.refine(p.dateTime(), (time) => time > at, 'must be later')
    await expect(given(at, later)).rejects.toThrow("'result' must be later")
  })
  test('is mandatory', async () => {
    const nothing = fn({}, () => JSON.parse('null') as string, { returns: p.string() })
    await expect(run(nothing)).rejects.toThrow("'result' must be a string, not null")
  })
  test('is not shown in the error if it is secret', async () => {
    const secret = fn({}, () => JSON.parse('12345') as string, { returns: p.secret(p.string()) })
    await expect(run(secret)).rejects.toThrow(/must be a string$/)
  })
})
