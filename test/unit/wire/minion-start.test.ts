import { expect, test } from 'vitest'
import { decodeUntrusted, encodeNetwork } from '../../../core/codec/index.ts'
import { makeStartAnswer, readStartAnswer } from '../../../core/wire/minion-start.ts'

test.each([
  [{ refused: 'There are two.' }],
  [{ missedJobs: 'signed', reconnectMs: 1_000 }],
  [{ missedJobs: 'unsigned', reconnectMs: 1_000.5, takesSyndics: true }],
] as const)('the answer %j to the report of a start is decoded as it was made', (answer) => {
  const read = readStartAnswer(decodeUntrusted(encodeNetwork(makeStartAnswer(answer))))
  expect(read).toEqual({ refused: undefined, missedJobs: undefined, reconnectMs: undefined, ...answer })
})

test('the answer of a master of Python Salt, and members of a wrong type, are ignored', () => {
  const nothing = { refused: undefined, missedJobs: undefined, reconnectMs: undefined }
  for (const answer of [
    { renderer: 'jinja|yaml' },
    { start_refused: 1, missed_jobs: true, reconnect_ms: '1' },
    { reconnect_ms: Number.NaN },
  ])
    expect(readStartAnswer(answer)).toEqual(nothing)
  for (const answer of [undefined, null, '', 1, []]) expect(readStartAnswer(answer)).toEqual({})
})
