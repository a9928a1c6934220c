import { describe, expect, test } from 'vitest'
import { advance, isFinal, type JobSignal, type JobStatus, published } from '../../../core/jobs/index.ts'

const deadline: JobSignal = { type: 'deadline' }
const found: JobSignal = { type: 'found', running: true }
const notFound: JobSignal = { type: 'found', running: false }
const success: JobSignal = { type: 'returned', success: true, retcode: 0 }
const failure: JobSignal = { type: 'returned', success: false, retcode: 3 }
const killed: JobSignal = { type: 'killed', signal: 'SIGTERM' }
const connection = (connected: boolean): JobSignal => ({ type: 'connection', connected })

function statusAfter(...signals: JobSignal[]): JobStatus {
  return signals.reduce((status, signal, n) => advance(status, signal, n + 1), published(0))
}

test.each<[string, JobSignal[], JobStatus['state'], string]>([
  ['a job nobody has heard of', [], 'published', 'was published'],
  ['a job that runs', [found], 'running', 'is running'],
  ['a job that returned', [found, success], 'returned', 'returned'],
  ['a job that failed', [failure], 'failed', 'exit code 3'],
  ['success with an exit code', [{ type: 'returned', success: true, retcode: 2 }], 'failed', 'exit code 2'],
  ['a job whose return is on its way', [found, notFound], 'seen', 'its return has not arrived'],
  ['a minion that does not know the job', [notFound, deadline], 'expired', 'it never arrived'],
  ['a silent minion', [deadline], 'unreachable', '[No response] It may be down'],
  ['a silent minion with a connection', [connection(true), deadline], 'unreachable', 'It is connected'],
  ['a minion without a connection', [connection(false), deadline], 'unreachable', '[Not connected]'],
  ['a job that runs too long', [found, deadline], 'expired', '[Still running]'],
  ['a killed job', [found, killed, deadline], 'killed', 'killed on request with SIGTERM'],
])('%s is in a named state with a reason', (_, signals, state, reason) => {
  const status = statusAfter(...signals)
  expect(status.state).toBe(state)
  expect(status.reason).toContain(reason)
})

describe('the end', () => {
  test('a return is final for ever', () => {
    const status = statusAfter(success)
    for (const signal of [failure, deadline, killed, found]) expect(advance(status, signal, 99)).toBe(status)
  })

  test('a late return replaces whatever was assumed', () => {
    for (const given of [[deadline], [found, deadline], [killed]]) {
      expect(statusAfter(...given, success).state).toBe('returned')
      expect(statusAfter(...given, notFound)).toEqual(statusAfter(...given))
    }
  })

  test('is told apart from being under way', () => {
    expect([[], [found], [notFound]].map((signals) => isFinal(statusAfter(...signals)))).toEqual([
      false,
      false,
      false,
    ])
    expect(
      [[success], [failure], [killed], [deadline]].map((signals) => isFinal(statusAfter(...signals))),
    ).toEqual([true, true, true, true])
  })
})

test('a state knows since when, and a signal that changes nothing does not renew it', () => {
  expect(statusAfter(found, found, found).since).toBe(1)
})
