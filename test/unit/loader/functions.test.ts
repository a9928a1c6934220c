import { describe, expect, test } from 'vitest'
import { type Context, type Fn, fn, p } from '../../../core/author/index.ts'
import { makeLoaded } from '../../../core/loader/functions.ts'

const context = {} as Context
const run = (made: Pick<Fn, 'params' | 'returns'>) =>
  makeLoaded('size.of', made as Fn, undefined).run({}, context)

describe('a result that is declared', () => {
  test('is given when it fits', async () => {
    expect(await run(fn({}, () => 7, { returns: p.integer() }))).toBe(7)
    expect(await run(fn({}, async () => ({ x: 1 }), { returns: p.object({ x: p.number() }) }))).toEqual({
      x: 1,
    })
    expect(await run(fn({}, () => undefined, { returns: p.optional(p.string()) }))).toBe(undefined)
  })
  test('is an error of the function, which says so, when it does not', async () => {
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
  test('must be there', async () => {
    const nothing = fn({}, () => JSON.parse('null') as string, { returns: p.string() })
    await expect(run(nothing)).rejects.toThrow("'result' must be a string, not null")
  })
  test('is not shown where it is secret', async () => {
    const secret = fn({}, () => JSON.parse('12345') as string, { returns: p.secret(p.string()) })
    await expect(run(secret)).rejects.toThrow(/must be a string$/)
  })
})
