import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hideLiveLine, printNote } from '../../../../core/cli/output/console.ts'
import { LiveLine, statusText } from '../../../../core/cli/output/live-line.ts'
import { captured } from '../../../harness/terminal.ts'

const counts = { expected: 40, returned: 12, running: 3, silent: 25, missing: 0, reconnecting: 0, waiting: 0 }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A terminal that shows one line, and remembers what it was sent. */
function terminal(columns = 80) {
  const written: string[] = []
  return {
    written,
    columns,
    write: (text: string) => written.push(text) > 0,
    /** The text of the line. */
    get line() {
      return written.join('').split('\r\x1b[K').at(-1)
    },
  }
}

test('the status counts returned, running, silent and given-up minions, and shows the time', () => {
  expect(statusText(counts, 7_000)).toBe('returned 12/40, running 3, silent 25, 0:07')
  expect(statusText({ ...counts, missing: 2 }, 3_723_000)).toBe(
    'returned 12/40, running 3, silent 25, given up 2, 1:02:03',
  )
  expect(statusText({ ...counts, reconnecting: 4 }, 1_000)).toBe(
    'returned 12/40, running 3, silent 25 (4 reconnecting), 0:01',
  )
})

test('nothing is written for a job that is over within 300 ms', () => {
  const stream = terminal()
  const live = new LiveLine({ stream, line: () => 'x' })
  vi.advanceTimersByTime(290)
  live.end()
  vi.advanceTimersByTime(1000)
  expect(stream.written).toEqual([])
})

test('the line is written at most ten times a second, only when it changes, and is erased at the end', () => {
  const stream = terminal()
  let n = 0
  const live = new LiveLine({ stream, line: () => `${n++}` })
  vi.advanceTimersByTime(1300)
  expect(stream.written.length).toBeLessThanOrEqual(11)
  live.end()
  expect(stream.line).toBe('')
  const still = terminal()
  const same = new LiveLine({ stream: still, line: () => 'the same' })
  vi.advanceTimersByTime(1300)
  expect(still.written).toEqual(['\r\x1b[Kthe same'])
  same.end()
})

test('the line is erased before other output, and written again afterwards', async () => {
  const stream = terminal()
  const live = new LiveLine({ stream, line: () => 'status' })
  vi.advanceTimersByTime(400)
  await captured(async () => printNote('a warning'))
  expect(stream.line).toBe('')
  vi.advanceTimersByTime(100)
  expect(stream.line).toBe('status')
  hideLiveLine()
  expect(stream.line).toBe('')
  live.end()
})

test('the line is shorter than the terminal, so that it does not wrap', () => {
  const stream = terminal(20)
  const live = new LiveLine({ stream, line: () => 'x'.repeat(100) })
  vi.advanceTimersByTime(400)
  expect(stream.line).toBe('x'.repeat(19))
  live.end()
})
