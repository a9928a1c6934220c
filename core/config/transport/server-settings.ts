import type { Log } from '../../author/context.ts'
import type { MasterConfig } from '../master-config.ts'
import { keepAliveOf } from './keep-alive.ts'
import { tlsOf } from './tls.ts'

/** Return what the request port and the publish port of a master have in common. @throws SaltError CONFIG_INVALID, see {@link tlsOf} */
export const serverSettingsOf = (config: MasterConfig, log?: Log) => ({
  host: config.interface,
  ipv6: config.ipv6,
  backlog: config.zmq_backlog,
  keepAlive: keepAliveOf(config),
  tls: tlsOf(config, 'server'),
  name: config.master_id ?? config.id,
  group: config.cluster_id,
  onStranger: (sentence: string) => log?.error(sentence),
  onConnectionsRefused: (sentence: string) => log?.error(sentence),
  onConnectionsAccepted: (sentence: string) => log?.info(sentence),
})
