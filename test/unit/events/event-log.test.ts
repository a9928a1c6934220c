import { describe, expect, test } from 'vitest'
import { EventLog } from '../../../core/events/event-log.ts'
import { SLOW } from '../../harness/slow.ts'

const frame = (n: number) => Buffer.from([n])

describe('the log of frames', () => {
  test('returns frames by position', () => {
    const log = new EventLog(10_000)
    log.push(frame(1))
    log.push(frame(2))
    expect([log.first, log.end]).toEqual([0, 2])
    expect(log.at(1)).toEqual(frame(2))
    log.dropBefore(1)
    expect([log.first, log.end]).toEqual([1, 2])
    expect(log.at(1)).toEqual(frame(2))
  })

  test('drops the oldest when it is full', () => {
    const log = new EventLog(1_000)
    for (let n = 0; n < 5; n++) log.push(frame(n))
    expect([log.first, log.end]).toEqual([2, 5])
    expect(log.at(2)).toEqual(frame(2))
  })

  test('has increasing positions over many frames', SLOW, () => {
    const log = new EventLog(5_000)
    for (let n = 0; n < 10_000; n++) {
      log.push(frame(n % 256))
      if (n % 7 === 0) log.dropBefore(log.end - 2)
      if (n % 1000 === 999) log.dropBefore(log.end)
      else expect(log.at(log.end - 1)).toEqual(frame(n % 256))
    }
    expect(log.end).toBe(10_000)
  })
})
