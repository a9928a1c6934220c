import { expect, test } from 'vitest'
import { failedState, freshState, rateOf, writtenState } from '../../../core/outbox/target-state.ts'

const START = Date.UTC(2026, 10, 22)

test('the rate is that of the last minute or two', () => {
  let state = freshState(START)
  expect(rateOf(state, START)).toBe(0)
  for (let second = 0; second <= 100; second++) state = writtenState(state, 50, START + second * 1000)
  expect(rateOf(state, START + 100_000)).toBeCloseTo(50, -1)
  expect(state.written).toBe(101 * 50)
  expect(rateOf(state, START + 300_000)).toBe(0)
})

test('the last error is kept with its time when the store is up again', () => {
  const down = failedState(freshState(START), 'connection refused', START + 1000)
  expect(down).toMatchObject({ state: 'down', since: START + 1000, error: 'connection refused', failures: 1 })
  const up = writtenState(failedState(down, 'too many connections', START + 2000), 1, START + 3000)
  expect(up).toMatchObject({ state: 'up', since: START + 3000, failures: 0 })
  expect(up).not.toHaveProperty('error')
  expect(up.lastError).toEqual({ error: 'too many connections', at: START + 2000 })
})
