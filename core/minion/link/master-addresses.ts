import { SaltError } from '../../base/errors.ts'
import type { MinionConfig } from '../../config/index.ts'

export interface MasterAddress {
  readonly host: string
  readonly port: number
}

/** Return the masters of the configuration. `master` is a name or address, with or without a port, or a list of them. */
export function masterAddresses(config: MinionConfig): MasterAddress[] {
  const named = Array.isArray(config.master) ? config.master : [config.master]
  const addresses = named.map((text) => addressOf(String(text).trim(), config))
  if (addresses.length) return addresses
  throw new SaltError('CONFIG_INVALID', `No master is set: add "master: <address>" to ${config.conf_file}.`)
}

/** Return the address of one master. With `master_uri_format: ip_only` the text has no port. */
function addressOf(text: string, { master_port, master_uri_format }: MinionConfig): MasterAddress {
  return master_uri_format === 'ip_only' ? { host: text, port: master_port } : parseAddress(text, master_port)
}

/** Parse `host`, `host:port`, `[v6]:port` or a bare IPv6 address. */
function parseAddress(text: string, defaultPort: number): MasterAddress {
  const match = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:\s]+))(?::(?<port>\d+))?$/.exec(text)
  if (!match) {
    if (/^[0-9a-fA-F:.]+$/.test(text)) return { host: text, port: defaultPort }
    throw new SaltError(
      'CONFIG_INVALID',
      `The master "${text}" is invalid: give a host name or an address, with or without a port.`,
    )
  }
  const { v6, host, port } = match.groups!
  return { host: (v6 ?? host)!, port: port ? Number(port) : defaultPort }
}
