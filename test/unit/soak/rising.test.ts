import { describe, expect, test } from 'vitest'
import { course, isHeldUp, keepsRising, TOLERANCES } from '../../soak/rising.ts'

/** Samples of ten minutes. */
const series = (value: (minute: number) => number) => Array.from({ length: 120 }, (_, at) => value(at / 12))
const memory = (value: (minute: number) => number) => keepsRising(series(value), TOLERANCES.megabytes)

describe('memory', () => {
  test('keeps rising if it grows in each part after the warm-up', () => {
    expect(memory((minute) => 50 + 3 * minute)).toBe(true)
    expect(memory((minute) => 50 + 3 * minute + 8 * Math.sin(minute * 20))).toBe(true)
  })

  test('does not keep rising if it only warms up, fluctuates, or rises once', () => {
    expect(memory(() => 50)).toBe(false)
    expect(memory((minute) => Math.min(80, 50 + 10 * minute))).toBe(false)
    expect(memory((minute) => 50 + 20 * (minute % 1))).toBe(false)
    expect(memory((minute) => (minute < 6 ? 50 : 90))).toBe(false)
    expect(memory((minute) => 90 - 3 * minute)).toBe(false)
  })

  test('may grow by a few per cent, or by 2 MB, from part to part', () => {
    expect(memory((minute) => 20 + minute)).toBe(false)
    expect(memory((minute) => 400 + 5 * minute)).toBe(false)
    expect(memory((minute) => 400 + 12 * minute)).toBe(true)
  })

  test('is not judged with few samples', () => {
    expect(
      keepsRising(series((minute) => 50 + 3 * minute).slice(0, 60), TOLERANCES.megabytes),
    ).toBeUndefined()
    expect(keepsRising([], TOLERANCES.megabytes)).toBeUndefined()
  })
})

test('descriptors and threads keep rising if a few are added in each part', () => {
  expect(
    keepsRising(
      series((minute) => 40 + Math.floor(2 * minute)),
      TOLERANCES.descriptors,
    ),
  ).toBe(true)
  expect(
    keepsRising(
      series((minute) => 40 + Math.floor(minute)),
      TOLERANCES.descriptors,
    ),
  ).toBe(false)
  expect(
    keepsRising(
      series((minute) => 11 + Math.floor(2 * minute)),
      TOLERANCES.threads,
    ),
  ).toBe(true)
  expect(
    keepsRising(
      series((minute) => 11 + (Math.floor(minute) % 2)),
      TOLERANCES.threads,
    ),
  ).toBe(false)
})

test('a series is described by its start, and its level after the warm-up and at the end', () => {
  expect(course(series((minute) => Math.floor(minute)))).toEqual([0, 4, 9])
})

test('an event loop is blocked if it is often late, or stands still more than a few times', () => {
  const stalling = (every: number) => Array.from({ length: 600 }, (_, at) => (at % every === 0 ? 1500 : 20))
  expect(isHeldUp(Array(600).fill(90))).toBe(false)
  expect(isHeldUp(Array(600).fill(110))).toBe(true)
  expect(isHeldUp(stalling(120))).toBe(false)
  expect(isHeldUp(stalling(60))).toBe(true)
  expect(isHeldUp([1500, 1500, 1500, ...Array(20).fill(10)])).toBe(false)
  expect(isHeldUp([])).toBe(false)
})
