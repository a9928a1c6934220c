import type { Log } from '../../author/context.ts'
import type { MasterConfig } from '../master-config.ts'
import { keepAliveOf } from './keep-alive.ts'
import { tlsOf } from './tls.ts'

/** Return the name of a master among the others of its cluster. */
export const masterNameOf = ({ master_id, id }: Pick<MasterConfig, 'master_id' | 'id'>): string =>
  master_id ?? id

/** Return what the request port and the publish port of a master have in common. @throws SaltError CONFIG_INVALID, see {@link tlsOf} */
export const serverSettingsOf = (config: MasterConfig, log?: Log) => ({
  host: config.interface,
  ipv6: config.ipv6,
  backlog: config.zmq_backlog,
  keepAlive: keepAliveOf(config),
  tls: tlsOf(config, 'server'),
  name: masterNameOf(config),
  group: config.cluster_id,
  onStranger: (sentence: string) => log?.error(sentence),
  onConnectionsRefused: (sentence: string) => log?.error(sentence),
  onConnectionsAccepted: (sentence: string) => log?.info(sentence),
})
