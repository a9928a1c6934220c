import { expect, test } from 'vitest'
import { backoff } from '../../../core/base/backoff.ts'

test('the delay doubles up to the cap, and starts over after a reset', () => {
  const waits = backoff({ minMs: 100, maxMs: 350, random: () => 1 })
  expect([waits.next(), waits.next(), waits.next(), waits.next()]).toEqual([100, 200, 350, 350])
  waits.reset()
  expect(waits.next()).toBe(100)
})

test('the delay is reduced at random by at most half', () => {
  const waits = backoff({ minMs: 100, maxMs: 100, random: () => 0 })
  expect(waits.next()).toBe(50)
})

test('the delay never exceeds the cap, even at first', () => {
  expect(backoff({ minMs: 500, maxMs: 100, random: () => 1 }).next()).toBe(100)
})
