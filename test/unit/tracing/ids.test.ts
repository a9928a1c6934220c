import { expect, test } from 'vitest'
import { spanIdOf, traceIdOf } from '../../../core/tracing/ids.ts'
import { type JobSpan, parentOf, spanName } from '../../../core/tracing/job-span.ts'

test('the trace id of a job is its jid with zeros in front', () => {
  expect(traceIdOf('20261122112205123456')).toBe('00000000000020261122112205123456')
  expect(traceIdOf('20261122112205123456_4711')).toBe('00000000000020261122112205123456')
})

test('span ids differ by part, minion and job, and are the same in every process', () => {
  const ids = ['client', 'publish', 'job/web1', 'job/web2'].map((part) =>
    spanIdOf('20261122112205123456', part),
  )
  expect(new Set([...ids, spanIdOf('20261122112205123457', 'client')]).size).toBe(5)
  for (const id of ids) expect(id).toMatch(/^(?!0{16})[0-9a-f]{16}$/)
  expect(spanIdOf('20261122112205123456', 'client')).toBe(ids[0])
})

test('every span has the part that caused it as its parent', () => {
  const about = { jid: '20261122112205123456', fun: 'test.ping', minion: 'web1', start: 0 }
  const of = (part: JobSpan['part'], more: Partial<JobSpan> = {}) => parentOf({ ...about, part, ...more })
  expect(of('client')).toBeUndefined()
  expect(of('publish')).toBe('client')
  expect(of('publish', { under: 'nothing' })).toBeUndefined()
  expect(of('job')).toBe('publish')
  expect([of('run'), of('return')]).toEqual(['job/web1', 'job/web1'])
  expect(of('write')).toBe('return/web1')
  expect(of('write', { under: 'job' })).toBe('job/web1')
  expect(spanName({ part: 'write', minion: 'web1', returner: 'postgres' })).toBe('write/web1/postgres')
})
