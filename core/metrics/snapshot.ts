import type { MetricName } from './catalogue.ts'

/** One series of a counter, gauge or info. */
interface Value {
  readonly labels: readonly string[]
  value: number
}

/** One series of a histogram. `counts` are not cumulative and have one more bucket for larger values. */
export interface Distribution {
  readonly labels: readonly string[]
  readonly counts: number[]
  sum: number
}

export type Series = Value | Distribution

/** The measurements of a process, as sent between processes. */
export type Snapshot = Partial<Record<MetricName, readonly Series[]>>

export const keyOf = (labels: readonly string[]): string => labels.join('\0')

export const isDistribution = (series: Series): series is Distribution => 'counts' in series

/** Add a series with the same labels to another one. */
export function addTo(series: Series, more: Series): void {
  if (isDistribution(series) && isDistribution(more)) {
    series.sum += more.sum
    for (const [index, count] of more.counts.entries())
      series.counts[index] = (series.counts[index] ?? 0) + count
  } else if (!isDistribution(series) && !isDistribution(more)) series.value += more.value
}

export const copyOf = (series: Series): Series =>
  isDistribution(series) ? { ...series, counts: [...series.counts] } : { ...series }
