import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '../../../core/log/index.ts'

let written: string[]
beforeEach(() => {
  vi.useFakeTimers()
  written = []
})
afterEach(() => vi.useRealTimers())

const open = (countsFloods = true) =>
  createLogger({
    program: 'test',
    limitsFloods: countsFloods,
    console: { level: 'info', stream: { write: (line) => written.push(line.trimEnd()) } },
    formats: { log_fmt_console: '%(levelname)s %(message)s' },
  })

test('the same error is written once a minute, and then the number of repetitions', () => {
  const log = open()
  for (let n = 0; n < 413; n++) log.error('The publisher is away.')
  expect(written).toEqual(['ERROR The publisher is away.'])
  vi.advanceTimersByTime(60_000)
  expect(written.slice(1)).toEqual([
    'ERROR The publisher is away. … and 412 more like it in the last minute.',
  ])
  log.error('The publisher is away.')
  expect(written).toHaveLength(3)
})

test('errors that differ in a number are written ten times, then the latest with the count', () => {
  const log = open()
  for (let n = 1; n <= 50; n++) log.warn(`The event of job ${n} was lost.`)
  log.error('Something else.')
  expect(written).toHaveLength(11)
  vi.advanceTimersByTime(60_000)
  expect(written.slice(11)).toEqual([
    'WARNING The event of job 50 was lost. … and 40 more like it in the last minute.',
  ])
})

test('lines that differ only in details are written ten times', () => {
  const log = open()
  for (let n = 0; n < 30; n++) log.error('Refused', { id: `web${n}` })
  expect(written).toHaveLength(10)
})

test('each component has its own limit, and no line is lost when the log is closed', async () => {
  const log = open()
  for (const component of ['one', 'other']) {
    log.child(component).error('No.')
    log.child(component).error('No.')
  }
  expect(written).toHaveLength(2)
  await log.close()
  expect(written.slice(2)).toEqual(Array(2).fill('ERROR No. … and one more like it in the last minute.'))
})

test('lines of level info, and lines of a command, are never left out', () => {
  const [daemon, command] = [open(), open(false)]
  for (let n = 0; n < 20; n++) daemon.info('A job.')
  for (let n = 0; n < 20; n++) command.error('No.')
  expect(written).toHaveLength(40)
})
