import type { Meter } from './meter.ts'

/** Options for the metrics of a daemon. */
export interface MetricsConfig {
  readonly metrics_interface: string
  readonly metrics_port: number
}

export const metricsEnabled = ({ metrics_port }: Pick<MetricsConfig, 'metrics_port'>): boolean =>
  metrics_port > 0

/** Open the meter of this process. Resolves with undefined, without loading it, if metrics are disabled. */
export async function meterFor(config: MetricsConfig, process: string): Promise<Meter | undefined> {
  if (!metricsEnabled(config)) return undefined
  const { openMeter } = await import('./process-metrics.ts')
  return openMeter(process)
}
