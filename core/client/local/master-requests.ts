import { SaltError } from '../../base/errors.ts'
import { sendClearRequest } from '../../channel/clear-channel.ts'
import { localTransportOf, type MasterConfig, tlsOf } from '../../config/index.ts'
import type { RequestClient } from '../../transport/contract.ts'
import { hadNoHandshake, noHandshakeText } from '../../transport/errors.ts'
import type { Via } from '../../wire/via.ts'

/** A connection to the request port of the master of this host. `failFast`: requests fail at once where nothing listens. */
export function connectMaster(config: MasterConfig, { failFast = false } = {}): RequestClient {
  const host = hostOf(config)
  return localTransportOf(config).connectRequests({
    host,
    port: config.ret_port,
    ipv6: config.ipv6,
    failFast,
    tls: tlsOf(config, 'client'),
  })
}

/** Return the address that {@link connectMaster} connects to, for logs. */
export const requestUri = (config: MasterConfig): string => `tcp://${hostOf(config)}:${config.ret_port}`

const hostOf = ({ interface: host, transport }: MasterConfig): string =>
  transport === 'nats' || ['0.0.0.0', '::', '*'].includes(host) ? '127.0.0.1' : host

/** Send one clear command. Rejects with MASTER_UNREACHABLE if there is no answer. */
export async function askMaster(
  requests: RequestClient,
  config: MasterConfig,
  load: Readonly<Record<string, unknown>>,
  timeoutMs: number,
  via?: Via,
): Promise<unknown> {
  try {
    return await sendClearRequest(requests, load, timeoutMs, via)
  } catch (error) {
    if (SaltError.is(error) && error.code === 'TIMEOUT') throw unreachable(config, error)
    throw error
  }
}

export function unreachable(config: MasterConfig, cause: unknown): SaltError {
  const at = `port ${config.ret_port} of ${config.interface} (configuration in ${config.config_dir}, sockets in ${config.sock_dir})`
  return new SaltError(
    'MASTER_UNREACHABLE',
    hadNoHandshake(cause)
      ? `Salt request timed out. The master did not accept the connection on ${at}: ${noHandshakeText}.`
      : `Salt request timed out. The master is not responding on ${at}. Is salt-master running with this configuration?`,
    {},
    { cause },
  )
}
