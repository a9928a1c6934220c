// The functions of salt-ts, for the types of jobs. This has no effect at run time.
/// <reference path="../../modules/_catalogue.ts" preserve="true" />
/** `salt-ts/testing`: the API for tests of extensions. */

export { Cluster } from './cluster.ts'
export type { ClusterSetup } from './cluster-parts.ts'
export { type Fakes, type RecordedCall, real } from './fakes.ts'
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
export { type RunResult, type RunSettings, run } from './run.ts'
export type { FakeMaster, FiredEvent } from './services.ts'
