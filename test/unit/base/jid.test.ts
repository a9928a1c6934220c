import { expect, test } from 'vitest'
import { createJidSource, isJid, jidTime } from '../../../core/base/jid.ts'

const noon = Date.UTC(2024, 1, 29, 12, 0, 0, 7)

test('a jid is the UTC time in 20 digits', () => {
  const jid = createJidSource({ now: () => noon })()
  expect(jid).toMatch(/^20240229120000007\d{3}$/)
  expect(jidTime(jid)).toEqual(new Date(noon))
})

test('jids strictly increase under load, and when the clock stands still or is set back', () => {
  const times = [noon, noon, noon - 5000, noon + 1]
  const next = createJidSource({ now: () => times.shift() ?? noon })
  const jids = Array.from({ length: 5000 }, next)
  expect(jids).toEqual([...new Set(jids)].sort())
})

test('a burst that overtakes the clock carries into the milliseconds', () => {
  const next = createJidSource({ now: () => Date.UTC(2024, 11, 31, 23, 59, 59, 999) })
  const jids = Array.from({ length: 1001 }, next)
  expect(jids.at(-1)).toMatch(/^20250101000000/)
})

test('two processes rarely generate the same jid in one millisecond', () => {
  const drawn = Array.from({ length: 20 }, () => createJidSource({ now: () => noon })())
  expect(new Set(drawn).size).toBeGreaterThan(10)
})

test.each(['20240229120000007123', '20240229120000007123_4711'])('%s is a jid', (jid) => {
  expect(isJid(jid)).toBe(true)
})

test.each([
  '',
  'req',
  '2024022912000000712',
  '202402291200000071234',
  '20240229120000007123_',
  '../../20240229120000',
])('%j is not a jid', (jid) => {
  expect(isJid(jid)).toBe(false)
})

test('a value that is not text is not a jid', () => {
  expect([null, 20240229120000007123n, ['20240229120000007123']].map(isJid)).toEqual([false, false, false])
})
