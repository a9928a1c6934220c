import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onceInAWhile } from '../../../core/base/once-in-a-while.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('the same sentence is passed on at most once a minute, another one at once', () => {
  const told: string[] = []
  const tell = onceInAWhile((sentence) => told.push(sentence))
  tell('Job 1: the disk is full.', 'the disk is full')
  tell('Job 2: the disk is full.', 'the disk is full')
  tell('Another thing.')
  tell('Another thing.')
  vi.advanceTimersByTime(60_000)
  tell('Another thing.')
  expect(told).toEqual(['Job 1: the disk is full.', 'Another thing.', 'Another thing.'])
})

test('two alternating problems are passed on once each', () => {
  const told: string[] = []
  const tell = onceInAWhile((sentence) => told.push(sentence))
  for (let n = 0; n < 5; n++)
    for (const sentence of ['The disk is full.', 'The network is down.']) tell(sentence)
  expect(told).toEqual(['The disk is full.', 'The network is down.'])
})

test('the number of suppressed sentences is passed on with the next one', () => {
  const told: [string, number][] = []
  const tell = onceInAWhile((sentence, untold) => told.push([sentence, untold]))
  for (let n = 0; n < 4; n++) tell(`Try ${n}.`, 'a reason')
  vi.advanceTimersByTime(60_000)
  for (let n = 4; n < 6; n++) tell(`Try ${n}.`, 'a reason')
  expect(told).toEqual([
    ['Try 0.', 0],
    ['Try 4.', 3],
  ])
})
