import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { problemWith } from '../../../core/config/check-option.ts'
import { masterOptions } from '../../../core/config/master-options.ts'
import { minionOptions } from '../../../core/config/minion-options.ts'
import { SLOW } from '../../harness/slow.ts'

const ajv = new Ajv({ allowUnionTypes: true, strictTuples: false })
const options = Object.entries({ ...masterOptions, ...minionOptions })
const anything = fc.anything({ maxDepth: 3, withBigInt: false, withNullPrototype: true })
const likely = fc.oneof(
  fc.constantFrom(
    '',
    'ipc',
    'debug',
    'sha256',
    true,
    false,
    null,
    0,
    -1,
    1.5,
    4505,
    70_000,
    [],
    {},
    Number.NaN,
  ),
  fc.array(fc.oneof(fc.string(), fc.integer())),
  fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string()), fc.integer())),
)

describe('the schemas of the options', () => {
  test('give the same verdicts as ajv', SLOW, () => {
    for (const [name, { schema }] of options) {
      const validate = ajv.compile(schema)
      fc.assert(
        fc.property(fc.oneof(likely, anything), (value) => {
          expect([name, problemWith(value, schema) === undefined]).toEqual([name, validate(value)])
        }),
        { numRuns: 30 },
      )
    }
  })

  test('accept an environment of the file server without directories', () => {
    expect(problemWith({ base: null }, masterOptions.file_roots.schema)).toBeUndefined()
  })

  test.each(options)('accept the default of %s, and describe it', (_, { schema, default: fallback, doc }) => {
    if (fallback !== undefined) expect(problemWith(fallback, schema)).toBe(undefined)
    expect(doc).toMatch(/^[A-Z].*\.$/s)
  })
})
