export { LOG_LEVELS, STATE_OUTPUTS } from './common-options.ts'
export { configDirectory } from './location.ts'
export { loadMasterConfig, type MasterConfig } from './master-config.ts'
export type { MasterOptions } from './master-options.ts'
export { loadMinionConfig, type MinionConfig } from './minion-config.ts'
export type { MinionOptions } from './minion-options.ts'
export { keepAliveOf } from './transport/keep-alive.ts'
export {
  localTransportOf,
  networkTransportOf,
  networkTransportsOf,
  type Transports,
} from './transport/network-transport.ts'
export { masterNameOf, serverSettingsOf } from './transport/server-settings.ts'
export { tlsOf, tlsToMaster } from './transport/tls.ts'
