import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LoadWatch } from '../../../../core/loader/files/load-watch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Report files as loading at the given times in seconds. Return those that are blamed for blocking the process. */
function blamed(told: readonly (readonly [path: string, seconds: number])[]): string[] {
  const found: string[] = []
  const watch = new LoadWatch(10_000, (_key, reason) => found.push(reason))
  for (const [path, seconds] of told)
    setTimeout(() => watch.heard({ type: 'loading', path, key: path, over: false }), seconds * 1000)
  vi.advanceTimersByTime(60_000)
  return found
}
const reasonOf = (path: string) => expect.stringContaining(`${path}: blocked its process for 10 s`)

test('a file that waits is not blamed if another one starts after its limit and blocks the process', () => {
  expect(
    blamed([
      ['waits.ts', 0],
      ['waits.ts', 10],
      ['loops.ts', 10],
    ]),
  ).toEqual([reasonOf('loops.ts')])
})

test('a file that waits and then blocks the process is blamed', () => {
  expect(
    blamed([
      ['waits.ts', 0],
      ['waits.ts', 10],
    ]),
  ).toEqual([reasonOf('waits.ts')])
})
