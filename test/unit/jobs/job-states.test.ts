import { describe, expect, test } from 'vitest'
import {
  type GivenUp,
  isUnderWay,
  type JobSignal,
  type JobStatus,
  nextStatus,
  PUBLISHED_STATUS,
  sentenceOf,
} from '../../../core/jobs/job-states.ts'

const JID = '20261121000000000001'
const received: JobSignal = { type: 'received' }
const started: JobSignal = { type: 'started' }
const success: JobSignal = { type: 'returned', success: true, retcode: 0 }
const failure: JobSignal = { type: 'returned', success: false, retcode: 3 }
const without = (why: GivenUp): JobSignal => ({ type: 'given-up', why, id: 'web1', jid: JID })

const statusAfter = (...signals: JobSignal[]): JobStatus => signals.reduce(nextStatus, PUBLISHED_STATUS)

test.each<[string, JobSignal[], JobStatus['state'], string]>([
  ['a job without any signal', [], 'published', 'did not return so far.\nState: published. '],
  ['a job that waits for its turn', [received], 'received', 'State: received. The minion has the job'],
  ['a job that runs', [received, started], 'started', 'State: started. The minion is running it.'],
  ['a job that returned', [started, success], 'returned', 'The minion returned.'],
  ['a job that failed', [failure], 'failed', 'exit code 3'],
  ['success with an exit code', [{ ...success, retcode: 2 } as JobSignal], 'failed', 'exit code 2'],
  ['no success without a code', [{ ...failure, retcode: 0 } as JobSignal], 'failed', 'exit code 1'],
  ['a silent minion', [without('no-response')], 'unknown', '[No response]\nState: unknown. '],
  ['a minion without a connection', [without('not-connected')], 'not_connected', '[Not connected]'],
  [
    'a minion that disconnected while the job ran',
    [started, without('not-connected')],
    'not_connected',
    'the job was running',
  ],
  [
    'a minion that fell silent while the job ran',
    [started, without('no-response')],
    'timed_out',
    'the job was running',
  ],
  [
    'a minion that fell silent while the job was queued',
    [received, without('no-response')],
    'timed_out',
    'the job was queued',
  ],
  [
    'a minion whose return the master cannot store',
    [without('not-stored')],
    'unknown',
    'could not store the return',
  ],
  ['a minion that does not know the job', [without('not-running')], 'unknown', 'is not running the job'],
  ['a minion without a key', [without('no-key')], 'key_not_accepted', 'salt-key -a'],
  ['a master that is gone', [started, without('master-gone')], 'unknown', 'The master became unreachable'],
])('%s gives a named state, with sentences that say why', (_, signals, state, text) => {
  const status = statusAfter(...signals)
  expect(status.state).toBe(state)
  expect(sentenceOf(status)).toContain(text)
})

test.each<GivenUp>(['no-response', 'not-connected', 'not-running', 'not-stored', 'no-key', 'master-gone'])(
  'a minion that does not return (%s) is described in the words of Salt first, then by state and what to do',
  (why) => {
    const lines = sentenceOf(statusAfter(without(why))).split('\n')
    expect(lines[0]).toMatch(/^Minion did not return\. \[[\w ]+\]$/)
    expect(lines[1]).toMatch(/^State: [a-z_]+\. [A-Z].*\.$/)
    expect(lines.length).toBeGreaterThan(2)
  },
)

describe('the end', () => {
  test('a return is always final', () => {
    const status = statusAfter(success)
    for (const signal of [failure, without('no-response'), started])
      expect(nextStatus(status, signal)).toBe(status)
  })

  test('a late return replaces an assumed state, and nothing else does', () => {
    for (const given of [[without('no-response')], [started, without('not-connected')]]) {
      expect(statusAfter(...given, success).state).toBe('returned')
      expect(statusAfter(...given, started)).toEqual(statusAfter(...given))
    }
  })

  test('is distinguished from a running job', () => {
    const underWay = (signals: JobSignal[]) => isUnderWay(statusAfter(...signals))
    expect([[], [received], [started]].map(underWay)).toEqual([true, true, true])
    expect([[success], [failure], [without('no-key')]].map(underWay)).toEqual([false, false, false])
  })
})

test('a running job does not return to waiting for its turn', () => {
  expect(statusAfter(started, received).state).toBe('started')
})
