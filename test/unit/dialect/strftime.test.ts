import { expect, test } from 'vitest'
import { strftime } from '../../../core/dialect/strftime.ts'

const WEEK = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

test('days of the week have their English names, short and long', () => {
  const days = WEEK.map((_, index) => strftime('%a %A', new Date(2026, 10, 22 + index)))
  expect(days).toEqual(WEEK.map((name) => `${name.slice(0, 3)} ${name}`))
})

test('months have the names that ICU has for them in English, short and long', () => {
  for (let month = 0; month < 12; month++) {
    const date = new Date(2026, month, 1)
    const named = (length: 'short' | 'long') => date.toLocaleString('en-US', { month: length })
    expect(strftime('%b %B', date)).toBe(`${named('short')} ${named('long')}`)
  }
})

test('a time is written as C does, with padding and the offset of its zone', () => {
  const date = new Date(2026, 0, 5, 13, 4, 9, 7)
  expect(strftime('%Y-%m-%d|%e|%H:%M:%S|%I %p|%f|%j|%y|%%|%Q', date)).toBe(
    '2026-01-05| 5|13:04:09|01 PM|007000|005|26|%|%Q',
  )
  expect(strftime('%z', date)).toMatch(/^[+-]\d{4}$/)
})
