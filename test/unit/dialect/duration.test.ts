import { expect, test } from 'vitest'
import { durationSeconds } from '../../../core/dialect/duration.ts'

test.each([
  ['90', 90],
  ['45m', 2_700],
  ['2h', 7_200],
  ['1.5D', 129_600],
  ['1h30m', 5_400],
  ['0', 0],
])('%s has %d seconds', (text, seconds) => {
  expect(durationSeconds(text)).toBe(seconds)
})

test.each(['', 'h', '2 hours', '-1', '1h 30m', '1w', '1e3', 'NaN'])('%j is no duration', (text) => {
  expect(durationSeconds(text)).toBeUndefined()
})
