import { expect, test } from 'vitest'
import { MAX_SERIES } from '../../../core/metrics/catalogue.ts'
import { meterFor } from '../../../core/metrics/enabled.ts'
import { funLabel } from '../../../core/metrics/fun-label.ts'
import { Meter } from '../../../core/metrics/meter.ts'
import { MetricTotals } from '../../../core/metrics/totals.ts'

const many = 3 * MAX_SERIES

test('a metric has a limited number of series; further ones are counted as other', async () => {
  const meter = new Meter()
  for (let n = 0; n < many; n++) meter.count('salt_master_job_failures', [`module.fun${n}`])
  meter.count('salt_master_job_failures', ['module.fun0'])
  const series = (await meter.snapshot()).salt_master_job_failures ?? []
  expect(series).toHaveLength(MAX_SERIES + 1)
  expect(series).toContainEqual({ labels: ['module.fun0'], value: 2 })
  expect(series).toContainEqual({ labels: ['other'], value: many - MAX_SERIES })
})

test('long labels are truncated', async () => {
  const meter = new Meter()
  for (const end of ['a', 'b']) meter.count('salt_master_refusals', ['publish', 'x'.repeat(100_000) + end])
  const series = (await meter.snapshot()).salt_master_refusals ?? []
  expect(series).toEqual([{ labels: ['publish', 'x'.repeat(100)], value: 2 }])
})

test('a source that fails is left out, and others are not', async () => {
  const meter = new Meter()
  meter.read(() => {
    throw new Error('no')
  })
  meter.read(async () => [['salt_master_subscribers', 4, []]])
  expect(await meter.snapshot()).toEqual({ salt_master_subscribers: [{ labels: [], value: 4 }] })
})

test('an invalid function name is counted as other', () => {
  expect(['test.ping', 'a.b.c', ['cmd.run'], ['test.ping', 'cmd.run']].map(funLabel)).toEqual([
    'test.ping',
    'a.b.c',
    'cmd.run',
    'several',
  ])
  expect(['ping', 'a. b', '', undefined, {}, 'x.y\n'].map(funLabel)).toEqual(Array(6).fill('other'))
})

test('counters of processes are summed, and never decrease when a process is replaced', async () => {
  const totals = new MetricTotals()
  const worker = async (published: number, bytes: number) => {
    const meter = new Meter()
    meter.count('salt_master_jobs_published', [], published)
    meter.observe('salt_master_request_duration_seconds', 0.5, ['publish'])
    meter.read(() => [['salt_process_heap_bytes', bytes, ['MWorker-0']]])
    return meter.snapshot()
  }
  totals.take('MWorker-0', 11, await worker(5, 100))
  totals.take('MWorker-1', 12, await worker(2, 0))
  totals.take('MWorker-0', 11, await worker(6, 100))
  expect(totals.sum().salt_master_jobs_published).toEqual([{ labels: [], value: 8 }])
  totals.take('MWorker-0', 13, await worker(1, 50))
  expect(totals.sum().salt_master_jobs_published).toEqual([{ labels: [], value: 9 }])
  expect(totals.sum().salt_master_request_duration_seconds).toMatchObject([{ labels: ['publish'], sum: 1.5 }])
  expect(totals.sum().salt_process_heap_bytes).toContainEqual({ labels: ['MWorker-0'], value: 50 })
})

test('without metrics_port there is no meter', async () => {
  expect(await meterFor({ metrics_port: 0, metrics_interface: '127.0.0.1' }, 'minion')).toBeUndefined()
})
