// The functions of salt-ts, for the types of jobs. This has no effect at run time.
/// <reference path="../../modules/_catalogue.ts" preserve="true" />
/** `salt-ts/client`: publish jobs and run runners from a program on the master's host. */
export { type UntypedName, untyped } from '../author/calls.ts'
export { loadMasterConfig, type MasterConfig } from '../config/index.ts'
export type { Event, Match, SubscribeOptions, Subscription } from '../events/index.ts'
export type { JobState } from '../jobs/job-states.ts'
export type { RunnerResult } from '../runs/run-result.ts'
export type { Refusal } from '../wire/publish-request.ts'
export {
  FunctionClient,
  type RunnerClientSettings,
  type RunOptions,
  type RunProgress,
} from './functions/function-client.ts'
export { RunnerClient } from './functions/runner-client.ts'
export { WheelClient } from './functions/wheel-client.ts'
export {
  type AnyRequest,
  type BatchRun,
  type BatchSettings,
  hasReturned,
  type JobCounts,
  type JobRequest,
  type MinionResult,
  type Plan,
  type PlannedCall,
  type PlannedGroup,
  type ProgressRow,
  type PublishedJob,
  type PublishRequest,
  type Run,
  type Stream,
  type Wave,
} from './local/contract.ts'
export { LocalClient } from './local/local-client.ts'
export type { MasterEvents } from './local/master-link.ts'
export { ReturnerWatch, type UnstoredReturn } from './local/returner-watch.ts'
