import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { seldom } from '../../../core/base/seldom.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('the same is told at most once a minute, something else at once', () => {
  const told: string[] = []
  const tell = seldom((sentence) => told.push(sentence))
  tell('Job 1: the disk is full.', 'the disk is full')
  tell('Job 2: the disk is full.', 'the disk is full')
  tell('Another thing.')
  tell('Another thing.')
  vi.advanceTimersByTime(60_000)
  tell('Another thing.')
  expect(told).toEqual(['Job 1: the disk is full.', 'Another thing.', 'Another thing.'])
})
