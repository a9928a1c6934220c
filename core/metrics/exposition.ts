import { BUCKETS, type Metric, type MetricName, metrics, unitOf } from './catalogue.ts'
import { isDistribution, type Series, type Snapshot } from './snapshot.ts'

/** The two text formats that Prometheus and its like read. */
export type Format = 'openmetrics' | 'prometheus'

export const contentTypes: Readonly<Record<Format, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
}

/** By an `Accept` header: OpenMetrics for whoever names it and likes nothing of the older format better. */
export function formatFor(accept: string | undefined): Format {
  const liking = (name: string) => {
    const range = accept?.split(',').find((one) => one.trim().toLowerCase().startsWith(name))
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)
  }
  const wanted = liking('application/openmetrics-text')
  return wanted > 0 && wanted >= liking('text/plain') ? 'openmetrics' : 'prometheus'
}

/** All that was measured, in the order of the catalogue. */
export function expose(snapshot: Snapshot, format: Format): string {
  const families = Object.keys(metrics).map((name) =>
    family(name as MetricName, snapshot[name as MetricName] ?? [], format),
  )
  return families.join('') + (format === 'openmetrics' ? '# EOF\n' : '')
}

/** What the samples of a metric are called. */
const sampleName = (name: string, { type }: Pick<Metric, 'type'>): string =>
  type === 'counter' ? `${name}_total` : type === 'info' ? `${name}_info` : name

function family(name: MetricName, list: readonly Series[], format: Format): string {
  if (list.length === 0) return ''
  const metric: Metric = metrics[name]
  const isOpen = format === 'openmetrics'
  // The older format knows samples only, and no info.
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
  const bounds = [...BUCKETS.map((bound) => bucketText(bound, format)), '+Inf']
  const buckets = bounds.map((bound, index) => {
    below += series.counts[index] ?? 0
    return `${name}_bucket${braced([...labels, `le="${bound}"`])} ${below}`
  })
  return [...buckets, `${name}_sum${braced(labels)} ${series.sum}`, `${name}_count${braced(labels)} ${below}`]
}

/** OpenMetrics wants bounds to look like floats. */
const bucketText = (bound: number, format: Format) =>
  format === 'openmetrics' && Number.isInteger(bound) ? `${bound}.0` : String(bound)

const braced = (labels: readonly string[]) => (labels.length > 0 ? `{${labels.join(',')}}` : '')

const escapeHelp = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

const escapeLabel = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
