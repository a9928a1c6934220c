import type { Log } from '../../author/context.ts'
import type { Transport } from '../../transport/contract.ts'
import { getNetworkTransport, getTransport, natsTransport } from '../../transport/index.ts'
import type { OptionMap } from '../option.ts'
import { natsOf } from './nats.ts'

interface TransportOptions {
  readonly transport: string
  readonly nats: OptionMap
}

/** Returns the transport of a name. Throws SaltError TRANSPORT_UNKNOWN, or CONFIG_INVALID if its options are wrong. */
export type Transports = (name: string) => Transport

/** Return the transports of a process. Those who use NATS share one connection. */
export function networkTransportsOf(config: Pick<TransportOptions, 'nats'>, log?: Log): Transports {
  let nats: Transport | undefined
  return (name) => {
    if (name !== 'nats') return getNetworkTransport(name)
    nats ??= natsTransport(natsOf(config), (sentence) => log?.error(sentence))
    return nats
  }
}

/**
 * Return the transport between a master and its minions. Call it once for a process, see {@link networkTransportsOf}.
 * @throws SaltError TRANSPORT_UNKNOWN or CONFIG_INVALID
 */
export const networkTransportOf = (config: TransportOptions, log?: Log): Transport =>
  networkTransportsOf(config, log)(config.transport)

/**
 * Return the transport between a master and the programs of its host. Over NATS their secrets would pass a third party, so that
 * they connect to the master directly.
 */
export const localTransportOf = ({ transport }: TransportOptions): Transport =>
  getTransport(transport === 'nats' ? 'zeromq' : transport)
