import { describe, expect, test } from 'vitest'
import { mayFail, minionsAtOnce, readBatch, readBatchSize } from '../../../core/jobs/batch-size.ts'
import { BatchWindow, type WindowLimits } from '../../../core/jobs/batch-window.ts'

const open = (ids: readonly string[], limits: Partial<WindowLimits> = {}): BatchWindow => {
  const window = new BatchWindow({ size: 2, waitMs: 0, failhard: false, mayFail: 100, ...limits })
  window.join(ids)
  return window
}

describe('a share of minions', () => {
  test.each([
    ['3', 40, 3],
    [5, 2, 5],
    ['10%', 40, 4],
    ['10%', 39, 3],
    ['10%', 9, 1],
    ['10%', 1, 1],
    ['%50', 5, 2],
    ['12.5%', 16, 2],
    ['100%', 7, 7],
    ['10%', 0, 0],
  ])('%s of %i is %i at a time', (given, available, expected) => {
    expect(minionsAtOnce(readBatch(given)!, available)).toBe(expected)
  })

  test.each(['', 'x', '0', '0%', '-1', '1.5', '10%%', '10 %x', '%', null, 0, -3, {}, true])(
    '%j is no size',
    (given) => expect(readBatch(given)).toBeUndefined(),
  )

  test('that may fail is rounded down, and can be 0', () => {
    expect(mayFail(readBatchSize('10%'), 19)).toBe(1)
    expect(mayFail(readBatchSize('0'), 19)).toBe(0)
    expect(mayFail(undefined, 19)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('a batch', () => {
  test('starts the next minion as each one ends', () => {
    const window = open(['a', 'b', 'c', 'd'])
    expect([window.next(0), window.next(0)]).toEqual([['a', 'b'], []])
    window.finished('b', true, 1)
    expect([window.next(21), window.over]).toEqual([['c'], false])
    window.finished('a', false, 22)
    window.finished('c', true, 22)
    expect([window.next(22), window.next(22)]).toEqual([['d'], []])
    window.finished('d', true, 23)
    expect([window.over, window.halted]).toEqual([true, undefined])
  })

  test.each([
    ['a quarter of the time the first of them took', 400, 500],
    ['a moment, when it took none', 0, 20],
    ['a second at the most', 60_000, 61_000],
  ])('fills slots that open within %s by one wave', (_, took, moment) => {
    const window = open(['a', 'b', 'c', 'd', 'e', 'f'], { size: 3 })
    window.next(0)
    window.finished('b', true, took)
    expect([window.next(took), window.nextOpening()]).toEqual([[], moment])
    window.finished('a', true, moment - 1)
    expect([window.next(moment - 1), window.next(moment)]).toEqual([[], ['d', 'e']])
  })

  test('does not wait for another slot when none is in use, or for a slot that was never used', () => {
    const window = open(['a', 'b', 'c'], { size: 2 })
    window.next(0)
    window.finished('a', true, 1000)
    window.finished('b', true, 1001)
    expect(window.next(1001)).toEqual(['c'])
    window.join(['d'])
    expect(window.next(1002)).toEqual(['d'])
  })

  test('counts a minion once, however often it joins or ends', () => {
    const window = open(['a', 'b', 'c'])
    window.join(['c', 'a', 'd'])
    window.next(0)
    for (let n = 0; n < 3; n++) window.finished('a', false, 0)
    expect(window.next(20)).toEqual(['c'])
    expect(window.queued).toEqual(['d'])
  })

  test('keeps the place of a minion that has ended for the waiting time', () => {
    const window = open(['a', 'b', 'c'], { waitMs: 500 })
    window.next(0)
    window.finished('a', true, 40)
    expect([window.next(559), window.nextOpening()]).toEqual([[], 560])
    expect([window.next(560), window.nextOpening()]).toEqual([['c'], Number.POSITIVE_INFINITY])
  })

  test('starts those first that were not started', () => {
    const window = open(['a', 'b', 'c'], {})
    window.putBack(window.next(0))
    expect([window.queued, window.running.size]).toEqual([['a', 'b', 'c'], 0])
  })

  test('stops with failhard at the first failure, and waits for running minions', () => {
    const window = open(['a', 'b', 'c'], { failhard: true })
    window.next(0)
    window.finished('b', false, 0)
    expect([window.next(0), window.over, window.queued]).toEqual([[], false, ['c']])
    window.finished('a', true, 0)
    expect([window.over, window.halted]).toEqual([true, expect.stringContaining('Minion b failed')])
  })

  test('stops when more minions have failed than may', () => {
    const window = open(['a', 'b', 'c', 'd', 'e'], { mayFail: 1 })
    window.next(0)
    window.finished('a', false, 0)
    expect(window.next(20)).toEqual(['c'])
    window.finished('b', false, 20)
    expect(window.next(40)).toEqual([])
    expect(window.halted).toBe(
      'Batch run stopped: 2 minions failed or did not return; the limit is 1 (--batch-max-fail).',
    )
  })

  test('continues after a restart with running minions, and with the number of failures', () => {
    const window = open([], { mayFail: 1 })
    window.resume(['a'], 1, 0)
    window.join(['b', 'c'])
    expect(window.next(0)).toEqual(['b'])
    window.finished('a', false, 0)
    expect([window.next(0), window.halted]).toEqual([[], expect.stringContaining('2 minions failed')])
  })
})
