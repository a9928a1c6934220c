import { expect, test } from 'vitest'
import { SteadyTime } from '../../../core/base/steady-time.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

function begin() {
  const leaps: number[] = []
  const state = { time: 100 * DAY, passed: 0 }
  const steady = new SteadyTime({
    clock: { now: () => state.time },
    elapsed: () => state.passed,
    onLeap: (ms) => leaps.push(ms),
  })
  const pass = (ms: number) => {
    state.time += ms
    state.passed += ms
  }
  return { steady, leaps, state, pass }
}

test('a clock that is eight days ahead for a minute is not followed, and reported once', () => {
  const { steady, leaps, state, pass } = begin()
  expect(steady.now()).toBe(100 * DAY)
  state.time += 8 * DAY
  for (let n = 0; n < 3; n++) {
    pass(25_000)
    expect(steady.now()).toBe(100 * DAY + (n + 1) * 25_000)
  }
  state.time -= 8 * DAY
  expect(steady.now()).toBe(state.time)
  expect(leaps).toEqual([8 * DAY])
})

test('a clock that stays ahead is followed after an hour', () => {
  const { steady, state, pass } = begin()
  steady.now()
  state.time += 8 * DAY
  steady.now()
  pass(HOUR)
  expect(steady.now()).toBe(state.time)
})

test('a small step forward, and a step back, are followed at once', () => {
  const { steady, leaps, state } = begin()
  steady.now()
  state.time += 300_000
  expect(steady.now()).toBe(state.time)
  state.time -= 3 * DAY
  expect(steady.now()).toBe(state.time)
  expect(leaps).toEqual([])
})

test('at a start long after the last known time, it also waits for an hour, without a report', () => {
  const { steady, leaps, state, pass } = begin()
  expect(steady.now(state.time - 8 * DAY)).toBe(state.time - 8 * DAY)
  expect(leaps).toEqual([])
  pass(HOUR)
  expect(steady.now()).toBe(state.time)
})
