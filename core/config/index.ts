export { keepAliveOf } from './keep-alive.ts'
export { loadMasterConfig, type MasterConfig } from './master-config.ts'
export { loadMinionConfig, type MinionConfig } from './minion-config.ts'
export type { MinionOptions } from './minion-options.ts'
