import { SaltError } from '../../base/errors.ts'
import type { MinionConfig } from '../../config/index.ts'
import { networkTransportNames } from '../../transport/index.ts'

export interface MasterAddress {
  /** As it is configured. */
  readonly text: string
  /** Name of the transport by which it is reached. */
  readonly transport: string
  /** Whether the text names the transport. */
  readonly namesTransport: boolean
  /** Empty over NATS, by which all masters are reached. */
  readonly host: string
  readonly port: number
}

/**
 * Return the masters of the configuration: `master` is one, or a list. Each is a name or address, with an optional port and an
 * optional transport, such as `tcp://one:4506`. All masters that are reached over NATS count as one.
 * @throws SaltError CONFIG_INVALID if there is none, or one is no address
 */
export function masterAddresses(config: MinionConfig): MasterAddress[] {
  const addresses = [config.master].flat().map((text) => addressOf(String(text).trim(), config))
  if (addresses.length === 0)
    throw new SaltError('CONFIG_INVALID', `No master is set: add "master: <address>" to ${config.conf_file}.`)
  const firstOverNats = addresses.findIndex(isOverNats)
  return addresses.filter((address, index) => !isOverNats(address) || index === firstOverNats)
}

export const isOverNats = ({ transport }: MasterAddress): boolean => transport === 'nats'

/** Return the name of a master in messages: `host:port`, or `NATS` for the masters that are reached over NATS. */
export const masterName = (master: MasterAddress): string =>
  isOverNats(master) ? 'NATS' : `${master.host}:${master.port}`

function addressOf(text: string, config: MinionConfig): MasterAddress {
  const { scheme, rest } = /^(?:(?<scheme>\w+):\/\/)?(?<rest>.*)$/s.exec(text)!.groups!
  const transport = scheme?.toLowerCase() ?? config.transport
  if (scheme && !networkTransportNames.includes(transport))
    throw new SaltError(
      'CONFIG_INVALID',
      `The master "${text}" is invalid: there is no transport '${scheme}'; it can be ${networkTransportNames.join(', ')}.`,
    )
  const how = { text, transport, namesTransport: scheme !== undefined }
  if (transport === 'nats') return { ...how, host: '', port: config.master_port }
  return { ...how, ...hostAndPort(rest!, config) }
}

/** Parse `host`, `host:port`, `[v6]:port` or a bare IPv6 address. With `master_uri_format: ip_only` the text has no port. */
function hostAndPort(text: string, { master_port, master_uri_format }: MinionConfig) {
  if (master_uri_format === 'ip_only') return { host: text, port: master_port }
  const match = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:\s]+))(?::(?<port>\d+))?$/.exec(text)
  if (!match) {
    if (/^[0-9a-fA-F:.]+$/.test(text)) return { host: text, port: master_port }
    throw new SaltError(
      'CONFIG_INVALID',
      `The master "${text}" is invalid: give a host name or an address, with or without a port.`,
    )
  }
  const { v6, host, port } = match.groups!
  return { host: (v6 ?? host)!, port: port ? Number(port) : master_port }
}
