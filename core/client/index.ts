/** `salt-ts/client`: publish jobs and run runners from a program on the master's host. */
export { loadMasterConfig, type MasterConfig } from '../config/index.ts'
export type {
  BatchRun,
  BatchSettings,
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
export { LocalClient } from './local-client.ts'
export { RunnerClient, type RunnerClientSettings, type RunnerResult } from './runner-client.ts'
