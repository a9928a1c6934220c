import { describe, expect, test } from 'vitest'
import { fromNotation } from '../harness/notation.ts'
import { render } from '../harness/outputters.ts'
import { vectors } from '../harness/vectors.ts'

const golden = vectors('outputters')

describe('outputters give the text of the golden data', () => {
  for (const { name, value, outputs } of [...golden.samples, ...golden.key_samples]) {
    for (const [variant, { text }] of Object.entries<{ text: string }>(outputs)) {
      test(`${name}: ${variant}`, async () => {
        const [, outputter = '', color, indent] = /^([a-z_]+?)(_color)?(?:_indent_(.+))?$/.exec(variant) ?? []
        const options = {
          color: color !== undefined,
          ...(indent === undefined ? {} : { indent: indentOf(indent) }),
        }
        expect(await render(outputter, fromNotation(value), options)).toBe(text)
      })
    }
  }
})

function indentOf(text: string): number {
  return (text === 'pretty' ? text : Number(text)) as number
}
