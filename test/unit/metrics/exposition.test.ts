import { expect, test } from 'vitest'
import { type Metric, metrics } from '../../../core/metrics/catalogue.ts'
import { formatFor, formatMetrics } from '../../../core/metrics/exposition.ts'
import { Meter } from '../../../core/metrics/meter.ts'
import { readExposition, sampleOf } from '../../harness/exposition.ts'
import { markdownTable } from '../../harness/markdown.ts'

async function measured() {
  const meter = new Meter()
  meter.count('salt_master_jobs_published', [], 3)
  meter.count('salt_master_refusals', ['publish', 'Authorization"Error\\\n'])
  meter.observe('salt_master_job_duration_seconds', 0.02, ['test.ping'])
  meter.observe('salt_master_job_duration_seconds', 7200, ['test.ping'])
  meter.read(() => [
    ['salt_build', 1, ['salt-master', '1.0', 'v20']],
    ['salt_master_subscribers', 2, []],
  ])
  return meter.snapshot()
}

test.each(['openmetrics', 'prometheus'] as const)('metrics can be parsed as %s', async (format) => {
  const families = readExposition(formatMetrics(await measured(), format), format)
  expect(sampleOf(families, 'salt_master_jobs_published_total')).toBe(3)
  expect(sampleOf(families, 'salt_master_refusals_total', { reason: 'Authorization"Error\\\n' })).toBe(1)
  expect(sampleOf(families, 'salt_master_subscribers')).toBe(2)
  expect(sampleOf(families, 'salt_build_info', { version: '1.0' })).toBe(1)
  const of = (suffix: string, labels = {}) =>
    sampleOf(families, `salt_master_job_duration_seconds${suffix}`, { fun: 'test.ping', ...labels })
  expect([of('_count'), of('_sum')]).toEqual([2, 7200.02])
  expect(of('_bucket', { le: '0.01' })).toBe(0)
  expect(of('_bucket', { le: '0.025' })).toBe(1)
  expect(of('_bucket', { le: '+Inf' })).toBe(2)
})

test('units and names of families follow each format', async () => {
  const snapshot = await measured()
  const open = readExposition(formatMetrics(snapshot, 'openmetrics'), 'openmetrics')
  expect(open.get('salt_master_jobs_published')?.type).toBe('counter')
  expect(open.get('salt_master_job_duration_seconds')?.unit).toBe('seconds')
  expect(open.get('salt_build')?.type).toBe('info')
  const old = readExposition(formatMetrics(snapshot, 'prometheus'), 'prometheus')
  expect(old.get('salt_master_jobs_published_total')?.type).toBe('counter')
  expect(old.get('salt_build_info')?.type).toBe('gauge')
})

test('the format is the one that the Accept header prefers', () => {
  const old = [
    'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.6',
    '*/*',
    '',
    undefined,
  ]
  expect(old.map(formatFor)).toEqual(['prometheus', 'prometheus', 'prometheus', 'prometheus'])
  const open = [
    'application/openmetrics-text',
    'application/openmetrics-text; version=1.0.0, text/plain;q=0.5',
  ]
  expect(open.map(formatFor)).toEqual(['openmetrics', 'openmetrics'])
})

test('names and labels are valid in both formats', () => {
  for (const [name, { labels }] of Object.entries<Metric>(metrics)) {
    expect(name).toMatch(/^salt_[a-z]+(_[a-z]+)*$/)
    expect(name).not.toMatch(/_(total|info|bucket|sum|count|created)$/)
    for (const label of labels) expect(label).toMatch(/^[a-z]+$/)
  }
})

/** `npm run docs` writes it. */
test('the documentation has every metric', async () => {
  const rows = Object.entries<Metric>(metrics).map(([name, { type, of, labels, help }]) => [
    ...[`\`${name}\``, type, labels.join(', '), of.join(', ')],
    help,
  ])
  const text = `# Metrics

Written by \`npm run docs\`. A counter is shown with \`_total\` behind its name, an info with \`_info\`. Times are in seconds.
[Monitoring](monitoring.md) shows how to switch them on.

${markdownTable(['name', 'type', 'labels', 'of', 'what'], rows)}
`
  await expect(text).toMatchFileSnapshot('../../../docs/metrics.md')
})
