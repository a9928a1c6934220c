import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { extensionFolder } from '../folder.ts'

const { put, open } = extensionFolder()

test('the parameters of a function are one JSON Schema that ajv accepts', async () => {
  await put(
    'modules/mod.ts',
    `import { fn, p } from 'salt-ts'

/** Does it. */
export const f = fn(
  {
    name: p.string({ minLength: 1, description: 'Who.' }),
    word: p.secret(p.string()),
    times: p.default(p.integer({ minimum: 1 }), 2),
    unit: p.optional(p.enum('s', 'ms')),
    more: p.rest(p.number()),
    others: p.keywords(p.boolean()),
  },
  () => 1,
)
`,
  )
  const schema = await open().view.schema('mod.f')
  expect(schema).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    description: 'Does it.',
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, description: 'Who.' },
      word: { type: 'string', writeOnly: true },
      times: { type: 'integer', minimum: 1, default: 2 },
      unit: { type: 'string', enum: ['s', 'ms'] },
      more: { type: 'array', items: { type: 'number' } },
    },
    required: ['name', 'word'],
    additionalProperties: { type: 'boolean' },
  })
  const check = new Ajv2020().compile(schema as object)
  expect(check({ name: 'a', word: 'b', more: [1], x: true })).toBe(true)
  expect(check({ name: 'a', word: 'b', x: 1 })).toBe(false)
})

test('a function without keywords has none in its schema, either', async () => {
  expect(await open().view.schema('test.ping')).toMatchObject({ properties: {}, additionalProperties: false })
  expect(await open().view.schema('nosuch.fun')).toBeUndefined()
})
