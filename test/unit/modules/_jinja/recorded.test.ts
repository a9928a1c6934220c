/** Templates, with what Python Salt 3006.10 and Jinja 3.1 make of them, with the same grains, pillar and files. */
import { readFileSync } from 'node:fs'
import { CommandExecutionError } from 'salt-ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { render } from '../_template/context.ts'
import recorded from './recorded.json' with { type: 'json' }

interface Recorded {
  readonly topic: string
  readonly template: string
  readonly text?: string
  /** What Salt says. */
  readonly error?: string
  /** Salt refuses the template in other words, which are not recorded. */
  readonly refused?: true
}

/** What salt-ts says instead of a sentence of Salt. */
const ourWording: Readonly<Record<string, string>> = {
  'Jinja error: none.txt': "Jinja error: the template 'none.txt' is not there",
  "Jinja variable 'dict object' has no attribute 'nope.nope'; line 1":
    "Jinja variable 'salt' has no function 'nope.nope'; line 1",
  "Jinja variable the template 'mac.txt' (imported on line 1) does not export the requested name 'nothere'; line 1":
    "Jinja variable the template 'mac.txt' does not export the requested name 'nothere'; line 1",
}

const records = recorded as readonly Recorded[]
const topics = [...new Set(records.map(({ topic }) => topic))].sort()
const variables = { name: 'web', context: { x: 1 } }

describe('As recorded from Salt', () => {
  beforeAll(() => void vi.stubEnv('TZ', 'UTC'))
  afterAll(() => void vi.unstubAllEnvs())

  describe.each(topics)('%s:', (topic) => {
    for (const record of records.filter((each) => each.topic === topic))
      test(titleOf(record), () => checkRecord(record))
  })
})

test('docs/limits.md says how many templates are recorded', () => {
  const page = readFileSync(new URL('../../../../docs/limits.md', import.meta.url), 'utf8')
  const [, all, same] = /Of (\d+) templates\s+recorded from Salt (\d+) gave the same text/.exec(page) ?? []
  expect(Number(same)).toBe(records.length)
  expect(Number(all)).toBeGreaterThan(records.length)
})

function titleOf({ template, text, error }: Recorded): string {
  const shown = JSON.stringify(template)
  if (text !== undefined) return `${shown} is ${JSON.stringify(text)}`
  return `${shown} is refused${error ? `: ${error}` : ''}`
}

async function checkRecord({ template, text, error = '', refused }: Recorded): Promise<void> {
  if (text !== undefined) {
    expect(await render(template, variables)).toBe(text)
    return
  }
  const thrown = await render(template, variables).catch((reason: unknown) => reason)
  expect(thrown).toBeInstanceOf(CommandExecutionError)
  const { message } = thrown as CommandExecutionError
  if (refused) expect(message).toMatch(/^Jinja /)
  else expect(message.startsWith(ourWording[error] ?? error), `${message} begins with ${error}`).toBe(true)
}
