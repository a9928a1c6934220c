import { hostname } from 'node:os'
import { join } from 'node:path'
import { parseMinionId } from '../../base/minion-id.ts'
import type { MasterConfig } from '../../config/index.ts'
import { type OptionsOf, port, text } from '../../config/option.ts'

/** Options below `api` for a master on another host. */
export const remoteMasterOptions = {
  master: text('', 'Host of the master; empty: it runs on this host.'),
  master_port: port(4506, 'Its port of requests (ret_port there).'),
  event_stream_port: port(4510, 'Its port of events (event_stream_port there).'),
  client_id: text(
    '',
    'Name of this server, which api_clients of the master must match; api-<host name> if empty.',
  ),
  master_finger: text('', 'Fingerprint the key of the master must have (salt-key -f master.pub there).'),
} as const

/** A master on another host, and the identity of this host there. */
export interface RemoteMaster {
  readonly host: string
  readonly port: number
  readonly eventPort: number
  readonly ipv6: boolean
  readonly id: string
  /** Holds the key pair of this host, and the key of the master once it is known. */
  readonly pkiDir: string
  readonly keySize: number
  readonly permissive: boolean
  readonly hash: string
  /** Expected fingerprint of the master's key; if empty, the first key is trusted. */
  readonly finger: string
}

/** Return the master on another host; undefined if the master runs here. @throws SaltError INVALID_ID for a client_id that cannot be one */
export function remoteMasterOf(
  settings: OptionsOf<typeof remoteMasterOptions>,
  config: MasterConfig,
): RemoteMaster | undefined {
  const { master, master_port, event_stream_port, client_id, master_finger } = settings
  if (master === '') return undefined
  return {
    host: master,
    port: master_port,
    eventPort: event_stream_port,
    ipv6: config.ipv6,
    id: parseMinionId(client_id || `api-${hostname()}`),
    pkiDir: join(config.pki_dir, 'api'),
    keySize: config.keysize,
    permissive: config.permissive_pki_access,
    hash: config.hash_type,
    finger: master_finger,
  }
}
