import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type ArgumentsOf, type Context, type Fn, fn, p } from '../../../core/author/index.ts'
import { schemaOf } from '../../../core/loader/calls/schema.ts'
import { typed } from '../../../core/loader/calls/typed.ts'
import { makeLoaded } from '../../../core/loader/functions.ts'

/** Call a function with values by name, as a minion does. */
async function call(made: Fn<never, Context, unknown>, kwargs: Record<string, unknown>): Promise<unknown> {
  const loaded = makeLoaded('mod.f', made as unknown as Fn)
  return loaded.run(loaded.bind([], kwargs), {} as Context)
}
const got = (param: Parameters<typeof p.optional>[0], given: unknown) =>
  call(fn({ x: param }, ({ x }) => [x]) as never, { x: given }).then((list) => (list as unknown[])[0])

describe('parameters of p', () => {
  test('a date is a Date at midnight UTC of the given day', async () => {
    expect(await got(p.date(), '2026-01-31')).toEqual(new Date('2026-01-31T00:00:00Z'))
    for (const wrong of ['2026-02-30', 'tomorrow', '31.1.2026', 5])
      await expect(got(p.date(), wrong)).rejects.toThrow(/'x' must be a date such as 2026-01-31, not /)
  })
  test('a time is a Date', async () => {
    expect(await got(p.dateTime(), '2026-01-31T12:00:00+02:00')).toEqual(new Date('2026-01-31T10:00:00Z'))
    await expect(got(p.dateTime(), 'noon')).rejects.toThrow("'x' must be a date and time such as")
  })
  test('a duration is seconds', async () => {
    for (const [given, seconds] of [
      ['5m', 300],
      [90, 90],
      ['1h30m', 5400],
      [typed('90'), 90],
      ['1.5', 1.5],
    ] as const)
      expect(await got(p.duration(), given)).toBe(seconds)
    for (const wrong of ['soon', -1, '5 apples'])
      await expect(got(p.duration(), wrong)).rejects.toThrow(
        /'x' must be a number of seconds, or a duration such as 90s, 5m or 1h30m, not /,
      )
  })
  test('bytes are a Buffer, from bytes or from base64', async () => {
    expect(await got(p.bytes(), 'aGVsbG8=')).toEqual(Buffer.from('hello'))
    expect(await got(p.bytes(), Buffer.from([0, 255, 7]))).toEqual(Buffer.from([0, 255, 7]))
    expect(await got(p.bytes(), '')).toEqual(Buffer.alloc(0))
    await expect(got(p.bytes(), 'no base64')).rejects.toThrow("'x' must be bytes in base64")
  })
  test('a literal is this very value', async () => {
    expect(await got(p.literal('on'), 'on')).toBe('on')
    expect(await got(p.literal(3), '3')).toBe(3)
    expect(await got(p.literal(true), 'yes')).toBe(true)
    await expect(got(p.literal(3), 4)).rejects.toThrow("'x' must be 3, not 4")
    await expect(got(p.literal('on'), 'off')).rejects.toThrow('\'x\' must be "on", not "off"')
    await expect(got(p.union(p.literal(1), p.literal(2)), 3)).rejects.toThrow(
      "'x' must be one of 1, 2, not 3",
    )
  })
  test('a nullable parameter is null or the value, also if it is optional', async () => {
    expect(await got(p.nullable(p.string()), null)).toBeNull()
    expect(await got(p.nullable(p.string()), typed('null'))).toBeNull()
    expect(await got(p.nullable(p.date()), '2026-01-31')).toEqual(new Date('2026-01-31'))
    expect(await got(p.default(p.nullable(p.integer()), 5), null)).toBeNull()
    expect(await got(p.optional(p.nullable(p.integer())), '7')).toBe(7)
    await expect(got(p.nullable(p.integer()), 'x')).rejects.toThrow(
      '\'x\' must be an integer or null, not "x"',
    )
  })
  test('a parameter with a default, or that may be left out, may be left out inside p.nullable and p.union as well', async () => {
    const made = fn(
      {
        port: p.nullable(p.default(p.integer(), 22)),
        name: p.nullable(p.optional(p.string())),
        size: p.union(p.boolean(), p.default(p.integer(), 5)),
        even: p.refine(p.default(p.integer(), 4), (n) => n % 2 === 0, 'must be even'),
      },
      ({ port, name, size, even }) => [port, name, size, even],
    )
    const none: ArgumentsOf<typeof made> = [{}] // compiles only if all may be left out
    expect(await call(made as never, { ...none[0] })).toEqual([22, undefined, 5, 4])
    const given = { port: null, name: null, size: false, even: 2 }
    expect(await call(made as never, given)).toEqual([null, null, false, 2])
  })
  test('a refinement is an additional condition, whose sentence is shown', async () => {
    const even = p.refine(p.integer(), (n) => n % 2 === 0, 'must be even')
    expect(await got(even, '4')).toBe(4)
    await expect(got(even, 3)).rejects.toThrow("Passed invalid arguments to mod.f: 'x' must be even, not 3")
    await expect(
      got(
        p.refine(even, async (n) => n > 10, 'must be above 10'),
        4,
      ),
    ).rejects.toThrow('must be above 10')
    await expect(got(p.secret(even), 3)).rejects.toThrow(/must be even$/)
  })
  test('conversions inside lists, maps and unions name the place', async () => {
    const day = new Date('2026-01-31')
    const plan = p.object({
      days: p.array(p.date()),
      until: p.optional(p.union(p.literal('ever'), p.date())),
    })
    expect(await got(plan, { days: ['2026-01-31'] })).toEqual({ days: [day] })
    expect(await got(plan, { days: [], until: 'ever' })).toEqual({ days: [], until: 'ever' })
    expect(await got(plan, { days: [], until: '2026-01-31' })).toEqual({ days: [], until: day })
    await expect(got(plan, { days: ['2026-01-31', '2026-02-30'] })).rejects.toThrow(
      "'1' in 'x' must be a date",
    )
    expect(await got(p.record(p.duration()), { a: '1m' })).toEqual({ a: 60 })
    const rest = fn({ all: p.rest(p.duration()), more: p.keywords(p.date()) }, ({ all, more }) => ({
      all,
      more,
    }))
    const loaded = makeLoaded('mod.f', rest as unknown as Fn)
    expect(await loaded.run(loaded.bind(['1m', 2], { d: '2026-01-31' }), {} as Context)).toEqual({
      all: [60, 2],
      more: { d: day },
    })
  })
  test('defaults are written as callers write them', async () => {
    const made = fn({ x: p.default(p.duration(), '5m') }, ({ x }) => x)
    expect(await call(made as never, {})).toBe(300)
  })
})

describe('schemas of other libraries', () => {
  const libraries = {
    zod: z.object({ name: z.string().min(2), port: z.number().int().default(80) }),
    valibot: v.object({ name: v.pipe(v.string(), v.minLength(2)), port: v.optional(v.number(), 80) }),
    'valibot with its JSON Schema': toStandardJsonSchema(
      v.object({ name: v.pipe(v.string(), v.minLength(2)), port: v.optional(v.number(), 80) }),
    ),
    arktype: type({ name: 'string >= 2', port: 'number.integer = 80' }),
  }
  test.each(Object.entries(libraries))('%s converts and checks a parameter', async (_, schema) => {
    expect(await got(schema, { name: 'web' })).toEqual({ name: 'web', port: 80 })
    expect(await got(p.array(schema), [{ name: 'web', port: 1 }])).toEqual([{ name: 'web', port: 1 }])
    await expect(got(schema, { name: 'w' })).rejects.toThrow(
      /^Passed invalid arguments to mod.f: '(x|name)' /,
    )
    await expect(got(schema, 5)).rejects.toThrow(/^Passed invalid arguments to mod.f: 'x' /)
  })
  test.each(['zod', 'valibot with its JSON Schema', 'arktype'] as const)(
    '%s provides help, forms and the master with its JSON Schema, by which words are converted',
    async (name) => {
      const { params } = fn({ x: libraries[name] }, () => true)
      const properties = {
        name: expect.objectContaining({ type: 'string', minLength: 2 }),
        port: expect.anything(),
      }
      expect(schemaOf(params)).toMatchObject({ properties: { x: { type: 'object', properties } } })
      expect(await got(libraries[name], typed('{name: 0755, port: 8080}'))).toEqual({
        name: '0755',
        port: 8080,
      })
    },
  )
  test('a schema without JSON Schema has a description that names the library', async () => {
    const { params } = fn({ x: libraries.valibot }, () => true)
    expect(params.x.schema).toEqual({ description: 'Checked on the minion, by its schema of valibot.' })
  })
  test('a schema that JSON Schema cannot express is checked on the minion only', async () => {
    const transformed = z.string().transform((text) => text.length)
    expect(await got(transformed, 'four')).toBe(4)
    const custom = z.custom<string>((given) => given === 'x')
    expect(await got(custom, 'x')).toBe('x')
    await expect(got(custom, 'y')).rejects.toThrow("'x' is not accepted: ")
    const tree: z.ZodType<unknown> = z.object({ inside: z.array(z.lazy(() => tree)) })
    expect(await got(tree, { inside: [{ inside: [] }] })).toEqual({ inside: [{ inside: [] }] })
  })
  test('a parameter whose schema accepts undefined may be left out', async () => {
    const made = fn(
      { a: z.string().optional(), b: z.number().default(5), c: p.optional(z.string()) },
      (given) => given,
    )
    expect(Object.values(made.params).map(({ optional }) => optional)).toEqual([true, true, true])
    expect(await call(made as never, {})).toEqual({ b: 5 })
    const inside = p.object({ a: z.string().optional(), b: z.number().default(5) })
    expect(await got(inside, {})).toEqual({ b: 5 })
    expect(() => makeLoaded('mod.f', fn({ a: z.string() }, () => 1) as unknown as Fn).bind([], {})).toThrow(
      "missing 1 required positional argument: 'a'",
    )
  })
  test('an asynchronous schema is awaited', async () => {
    const later = z.string().refine(async (text) => text === 'x', 'must be x')
    expect(await got(later, 'x')).toBe('x')
    await expect(got(later, 'y')).rejects.toThrow("'x' is not accepted: must be x")
  })
  test('the value of a secret is not quoted', async () => {
    const secret = p.secret(
      z.string().refine((text) => text === 'x', { error: ({ input }) => `${input} is wrong` }),
    )
    await expect(got(secret, 'hunter2')).rejects.toThrow(/'x' is not accepted$/)
  })
  test('checks a result', async () => {
    const made = fn({}, () => ({ port: JSON.parse('"x"') as number }), {
      returns: z.object({ port: z.number() }),
    })
    await expect(call(made as never, {})).rejects.toThrow(
      "is not what it declares in 'returns': 'port' in 'result' ",
    )
    const fine = fn({}, () => ({ port: 5 }), { returns: z.object({ port: z.number() }) })
    expect(await call(fine as never, {})).toEqual({ port: 5 })
  })
})
