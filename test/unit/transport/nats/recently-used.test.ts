import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RecentlyUsed } from '../../../../core/transport/nats/recently-used.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const open = (limits: Partial<ConstructorParameters<typeof RecentlyUsed>[0]> = {}) =>
  new RecentlyUsed<string>({ maxEntries: 3, maxBytes: 10_000, idleMs: 30_000, ...limits })

test('the least recently used entry is removed when there are too many', () => {
  const entries = open()
  for (const key of ['a', 'b', 'c']) entries.add(key, key)
  expect(entries.use('a')).toBe('a')
  entries.add('d', 'd')
  expect(['a', 'b', 'c', 'd'].map((key) => entries.use(key))).toEqual(['a', undefined, 'c', 'd'])
})

test('entries are removed when there is no room for another one, which can be the one that grows', () => {
  const entries = open()
  entries.add('a', 'a')
  entries.add('b', 'b', 4_000)
  entries.grow('a', 6_000)
  expect(entries.use('b')).toBe('b')
  expect(entries.use('a')).toBeUndefined()
  entries.grow('b', 20_000)
  expect(entries.size).toBe(0)
})

test('an almost empty entry counts as a kilobyte, each time it grows', () => {
  const entries = open()
  entries.add('a', 'a')
  for (let n = 0; n < 8; n++) entries.grow('a', 1)
  expect(entries.size).toBe(1)
  entries.grow('a', 1)
  expect(entries.size).toBe(0)
})

test('an entry that is not used expires', () => {
  const entries = open()
  entries.add('a', 'a')
  vi.advanceTimersByTime(20_000)
  entries.add('b', 'b')
  vi.advanceTimersByTime(15_000)
  expect([entries.use('a'), entries.use('b')]).toEqual([undefined, 'b'])
  entries.close()
})
