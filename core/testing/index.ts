/** `salt-ts/testing`: what tests of extensions import. */

export { Cluster } from './cluster.ts'
export type { ClusterSetup } from './cluster-parts.ts'
export { type CallMade, type Fakes, real } from './fakes.ts'
export {
  type JobFixture,
  type JobSource,
  loadFixture,
  recordRun,
  recordStored,
  replay,
  saveFixture,
} from './fixture.ts'
export { openReturner } from './open-returner.ts'
export { fakeLog, type LogLine } from './recording-log.ts'
export { type Ran, run, type Surroundings } from './run.ts'
export type { FiredEvent } from './services.ts'
