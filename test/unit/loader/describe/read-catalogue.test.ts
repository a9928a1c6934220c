import { expect, test } from 'vitest'
import { p } from '../../../../core/author/params.ts'
import { functionHelp } from '../../../../core/loader/describe/function-help.ts'
import { readCatalogue } from '../../../../core/loader/describe/read-catalogue.ts'

/** Read a catalogue whose function `x.y` has a parameter with this schema. */
const paramsWith = (schema: object) =>
  readCatalogue(JSON.stringify({ missing: {}, functions: { 'x.y': { a: { kind: 'value', schema } } } }))!
    .functions['x.y']

const NO_VALUE = { toString: 1, valueOf: 1 }

test.each([
  { type: 'number', minimum: NO_VALUE },
  { type: 'string', minLength: '3' },
  { type: 'array', maxItems: NO_VALUE, items: {} },
  { type: 'string', pattern: NO_VALUE },
  { type: 'string', format: NO_VALUE },
  { type: '\x1b[31mred' },
  { anyOf: [{ type: 'number', maximum: [] }] },
])('parameters with the schema %j are unknown', (schema) => {
  expect(paramsWith(schema)).toBeNull()
})

test('an unknown format is shown by its name', () => {
  const params = paramsWith({ type: 'string', format: 'constructor' })
  expect(functionHelp(undefined, { params: params! })).toContain('a: string, constructor')
})

test.each([
  p.string({ minLength: 1, pattern: '^a' }),
  p.array(p.integer({ minimum: 1, maximum: 3 }), { minItems: 1, uniqueItems: true }),
  p.union(p.boolean(), p.nullable(p.date()), p.record(p.any())),
])('a schema made by p, such as %j, is read', (param) => {
  expect(paramsWith(param.schema)).not.toBeNull()
})
