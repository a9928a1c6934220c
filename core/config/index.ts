export { loadMasterConfig, type MasterConfig } from './master-config.ts'
export type { MasterOptions } from './master-options.ts'
export { loadMinionConfig, type MinionConfig } from './minion-config.ts'
export type { MinionOptions } from './minion-options.ts'
