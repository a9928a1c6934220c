/** `salt-ts/client`: publish jobs and run runners from a program on the master's host. */
export { loadMasterConfig, type MasterConfig } from '../config/index.ts'
export type { Event, Match, SubscribeOptions, Subscription } from '../events/index.ts'
export type { JobState } from '../jobs/job-states.ts'
export type { RunnerResult } from '../runs/run-result.ts'
export {
  FunctionClient,
  type RunnerClientSettings,
  type RunOptions,
  type RunProgress,
} from './functions/function-client.ts'
export { RunnerClient } from './functions/runner-client.ts'
export { WheelClient } from './functions/wheel-client.ts'
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
} from './local/contract.ts'
export { LocalClient } from './local/local-client.ts'
export type { MasterEvents } from './local/master-link.ts'
export { ReturnerWatch, type UnstoredReturn } from './local/returner-watch.ts'
