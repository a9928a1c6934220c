import type { Meter } from './meter.ts'

/** Options of the daemons that have metrics. */
export interface MetricsConfig {
  readonly metrics_interface: string
  readonly metrics_port: number
}

export const wantsMetrics = ({ metrics_port }: Pick<MetricsConfig, 'metrics_port'>): boolean =>
  metrics_port > 0

/** The meter of this process; undefined, and nothing loaded, where nobody wants one. */
export async function meterFor(config: MetricsConfig, process: string): Promise<Meter | undefined> {
  if (!wantsMetrics(config)) return undefined
  const { openMeter } = await import('./process-metrics.ts')
  return openMeter(process)
}
