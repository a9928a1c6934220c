import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onceInAWhile } from '../../../core/base/once-in-a-while.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('the same is told at most once a minute, something else at once', () => {
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

test('two things that go wrong in turns are told once each', () => {
  const told: string[] = []
  const tell = onceInAWhile((sentence) => told.push(sentence))
  for (let n = 0; n < 5; n++)
    for (const sentence of ['The disk is full.', 'The network is down.']) tell(sentence)
  expect(told).toEqual(['The disk is full.', 'The network is down.'])
})

test('how often it was held back since is told with it', () => {
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
