/** Templates, with what Python Salt 3006.10 and Jinja 3.1 make of them, with the same grains, pillar and files. */
import { describe, expect, test } from 'vitest'
import { render } from './context.ts'
import recorded from './recorded.json' with { type: 'json' }

/** What salt-ts says otherwise than Salt. */
const otherwise: Readonly<Record<string, string>> = {
  'Jinja error: none.txt': "Jinja error: the template 'none.txt' is not there",
  "Jinja variable 'dict object' has no attribute 'nope.nope'":
    "Jinja variable 'salt' has no function 'nope.nope'",
  "Jinja variable the template 'mac.txt' (imported on line 1) does not export the requested name 'nothere'":
    "Jinja variable the template 'mac.txt' does not export the requested name 'nothere'",
}

const variables = { name: 'web', context: { x: 1 } }

describe('As recorded from Salt', () => {
  for (const { template, text, error } of recorded as { template: string; text?: string; error?: string }[]) {
    if (text !== undefined)
      test(`${JSON.stringify(template)} is ${JSON.stringify(text)}`, async () => {
        expect(await render(template, variables)).toBe(text)
      })
    else
      test(`${JSON.stringify(template)} is refused: ${error}`, async () => {
        const said = (error as string).replace(/; line \d+$/, '')
        await expect(render(template, variables)).rejects.toThrow(otherwise[said] ?? said)
      })
  }
})
