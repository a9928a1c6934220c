/** What costs nothing to load; the rest is imported from its own file, late, by whoever serves metrics. */
export { funLabel } from './fun-label.ts'
export type { Meter, Reading } from './meter.ts'
export type { Snapshot } from './snapshot.ts'
export { meterFor, wantsMetrics } from './wanted.ts'
