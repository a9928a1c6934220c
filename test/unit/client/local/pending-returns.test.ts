import { describe, expect, test } from 'vitest'
import { PendingReturns, resultOf } from '../../../../core/client/local/pending-returns.ts'
import type { Event } from '../../../../core/events/index.ts'

const several = { jid: '1', fun: ['test.ping', 'test.exception'], return: { 'test.ping': true } }

describe('a job with several functions', () => {
  test('has failed if one of them threw on a Python minion, which sends no code for that one', () => {
    const data = {
      ...several,
      retcode: { 'test.ping': 0 },
      success: { 'test.ping': true, 'test.exception': false },
    }
    expect(resultOf('web1', data)).toMatchObject({ success: false })
  })

  test('has failed if one of them threw on a Python minion that returns a list', () => {
    const data = { ...several, return: [true, 'Traceback'], retcode: [0, null], success: [true, false] }
    expect(resultOf('web1', data)).toMatchObject({ success: false })
  })

  test('has the highest code, and has succeeded if all of them have', () => {
    const codes = { ...several, retcode: { 'test.ping': 0, 'test.exception': 3 } }
    expect(resultOf('web1', codes)).toMatchObject({ retcode: 3, success: false })
    const good = { ...several, retcode: [0, 0], success: [true, true] }
    expect(resultOf('web1', good)).toMatchObject({ retcode: 0, success: true })
  })
})

describe('rows of a job', () => {
  const job = { jid: '20261121034212345678', minions: ['web1'], missing: [] }
  const rowOf = (number: string | number, data: object, id = 'web1') =>
    ({ tag: `salt/job/${job.jid}/prog/${id}/${number}`, data: { id, ...data } }) as Event

  test('are reported with their number from events of the minion', () => {
    const waiting = new PendingReturns(job, 0)
    const told = { id: 'web1', state: 'progress', number: 2, row: { a: 1 } }
    expect(waiting.progressRow(rowOf(2, { cmd: '_minion_event', data: { return: { a: 1 } } }))).toEqual(told)
    expect(waiting.progressRow(rowOf(2, { return: { a: 1 } }))).toEqual(told)
  })
  test('are ignored if they are of another minion, without a number, or after the return', () => {
    const waiting = new PendingReturns(job, 0)
    expect(waiting.progressRow(rowOf('x', {}))).toBeUndefined()
    expect(
      waiting.progressRow({ tag: `salt/job/${job.jid}/ret/web1`, data: { id: 'web1' } } as Event),
    ).toBeUndefined()
    expect(waiting.progressRow({ ...rowOf(0, {}), data: { id: 'web2' } } as Event)).toBeUndefined()
    waiting.noteReturned(resultOf('web1', several))
    expect(waiting.progressRow(rowOf(0, {}))).toBeUndefined()
  })
})
