/** Templates, with what Python Salt 3006.10 and Jinja 3.1 make of them, with the same grains, pillar and files. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { render } from './context.ts'
import recorded from './recorded.json' with { type: 'json' }

interface Recorded {
  readonly template: string
  readonly text?: string
  /** What Salt says. */
  readonly error?: string
  /** Salt refuses the template in other words. */
  readonly refused?: boolean
}

/** What salt-ts says instead. */
const otherwise: Readonly<Record<string, string>> = {
  'Jinja error: none.txt': "Jinja error: the template 'none.txt' is not there",
  "Jinja variable 'dict object' has no attribute 'nope.nope'; line 1":
    "Jinja variable 'salt' has no function 'nope.nope'; line 1",
  "Jinja variable the template 'mac.txt' (imported on line 1) does not export the requested name 'nothere'; line 1":
    "Jinja variable the template 'mac.txt' does not export the requested name 'nothere'; line 1",
}

const variables = { name: 'web', context: { x: 1 } }

describe('As recorded from Salt', () => {
  beforeAll(() => void vi.stubEnv('TZ', 'UTC'))
  afterAll(() => void vi.unstubAllEnvs())
  for (const { template, text, error } of recorded as readonly Recorded[])
    if (text !== undefined)
      test(`${JSON.stringify(template)} is ${JSON.stringify(text)}`, async () => {
        expect(await render(template, variables)).toBe(text)
      })
    else
      test(`${JSON.stringify(template)} is refused: ${error ?? 'in other words'}`, async () => {
        await expect(render(template, variables)).rejects.toThrow(otherwise[error ?? ''] ?? error ?? /./)
      })
})
