import { expect, test } from 'vitest'
import { isoOfTimeText, timeText } from '../../../core/dialect/time-text.ts'

test.each([
  ['20261121034212345678', '2026, Nov 21 03:42:12.345678'],
  ['20261121034212345678_4711', '2026, Nov 21 03:42:12.345678'],
  ['2030-02-03T04:05:06.789Z', '2030, Feb 03 04:05:06.789000'],
  ['req', ''],
])('the time of %s is shown as Salt does: %s', (time, text) => {
  expect(timeText(time)).toBe(text)
})

test('the text is parsed again, to the millisecond', () => {
  expect(isoOfTimeText('2030, Feb 03 04:05:06.789123\n')).toBe('2030-02-03T04:05:06.789Z')
  expect(isoOfTimeText('2030, Foo 03 04:05:06.789123')).toBeUndefined()
  expect(isoOfTimeText('')).toBeUndefined()
})
