/** `salt-ts/client`: publish jobs and run runners from a program on the master's host. */
export { loadMasterConfig, type MasterConfig } from '../config/index.ts'
export type { Event, Match, SubscribeOptions, Subscription } from '../events/index.ts'
export type { JobState } from '../jobs/job-states.ts'
export type {
  BatchRun,
  BatchSettings,
  JobCounts,
  MinionResult,
  Plan,
  PlannedCall,
  PlannedGroup,
  ProgressRow,
  PublishedJob,
  PublishRequest,
  Refusal,
  Run,
  Stream,
  Wave,
} from './contract.ts'
export {
  FunctionClient,
  type Progress,
  type RunnerClientSettings,
  type RunOptions,
} from './function-client.ts'
export { LocalClient } from './local-client.ts'
export type { MasterEvents } from './master-link.ts'
export type { RunnerResult } from './run-result.ts'
export { RunnerClient } from './runner-client.ts'
export { type NotStored, StoredWatch } from './stored-watch.ts'
export { WheelClient } from './wheel-client.ts'
