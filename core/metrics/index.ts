/** The parts that are cheap to load. Code that serves metrics imports the other files lazily. */

export { meterFor, metricsEnabled } from './enabled.ts'
export { funLabel } from './fun-label.ts'
export type { Meter, Reading } from './meter.ts'
export type { Snapshot } from './snapshot.ts'
