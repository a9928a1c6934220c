import { BUCKETS_SECONDS, type Metric, type MetricName, metrics, unitOf } from './catalogue.ts'
import { isDistribution, type Series, type Snapshot } from './snapshot.ts'

/** The two text formats that Prometheus and compatible collectors read. */
export type Format = 'openmetrics' | 'prometheus'

export const contentTypes: Readonly<Record<Format, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
}

/** Select a format by an `Accept` header: OpenMetrics if it is accepted and the older format is not preferred. */
export function formatFor(accept: string | undefined): Format {
  const quality = (name: string) => {
    const range = accept?.split(',').find((one) => one.trim().toLowerCase().startsWith(name))
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)
  }
  const wanted = quality('application/openmetrics-text')
  return wanted > 0 && wanted >= quality('text/plain') ? 'openmetrics' : 'prometheus'
}

/** Format a snapshot, in the order of the catalogue. */
export function formatMetrics(snapshot: Snapshot, format: Format): string {
  const families = Object.keys(metrics).map((name) =>
    family(name as MetricName, snapshot[name as MetricName] ?? [], format),
  )
  return families.join('') + (format === 'openmetrics' ? '# EOF\n' : '')
}

/** Return the name of the samples of a metric. */
const sampleName = (name: string, { type }: Pick<Metric, 'type'>): string =>
  type === 'counter' ? `${name}_total` : type === 'info' ? `${name}_info` : name

function family(name: MetricName, list: readonly Series[], format: Format): string {
  if (list.length === 0) return ''
  const metric: Metric = metrics[name]
  const isOpen = format === 'openmetrics'
  // The older format names the samples, and has no type info.
  const shown = isOpen ? name : sampleName(name, metric)
  const unit = isOpen ? unitOf(name) : undefined
  const lines = [
    `# HELP ${shown} ${escapeHelp(metric.help)}`,
    `# TYPE ${shown} ${!isOpen && metric.type === 'info' ? 'gauge' : metric.type}`,
    ...(unit ? [`# UNIT ${shown} ${unit}`] : []),
    ...list.flatMap((series) => samples(name, metric, series, format)),
  ]
  return `${lines.join('\n')}\n`
}

function samples(name: string, metric: Metric, series: Series, format: Format): string[] {
  const labels = metric.labels.map((label, index) => `${label}="${escapeLabel(series.labels[index] ?? '')}"`)
  if (!isDistribution(series)) return [`${sampleName(name, metric)}${braced(labels)} ${series.value}`]
  let below = 0
  const bounds = [...BUCKETS_SECONDS.map((bound) => bucketText(bound, format)), '+Inf']
  const buckets = bounds.map((bound, index) => {
    below += series.counts[index] ?? 0
    return `${name}_bucket${braced([...labels, `le="${bound}"`])} ${below}`
  })
  return [...buckets, `${name}_sum${braced(labels)} ${series.sum}`, `${name}_count${braced(labels)} ${below}`]
}

/** Format a bound. OpenMetrics requires a float. */
const bucketText = (bound: number, format: Format) =>
  format === 'openmetrics' && Number.isInteger(bound) ? `${bound}.0` : String(bound)

const braced = (labels: readonly string[]) => (labels.length > 0 ? `{${labels.join(',')}}` : '')

const escapeHelp = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

const escapeLabel = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
