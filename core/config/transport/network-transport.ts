import type { Log } from '../../author/context.ts'
import type { Transport } from '../../transport/contract.ts'
import { getNetworkTransport, getTransport, natsTransport } from '../../transport/index.ts'
import type { OptionMap } from '../option.ts'
import { natsOf } from './nats.ts'

interface TransportOptions {
  readonly transport: string
  readonly nats: OptionMap
}

/**
 * Return the transport between a master and its minions. Call it once for a process: those who use it share its connection to NATS.
 * @throws SaltError TRANSPORT_UNKNOWN or CONFIG_INVALID
 */
export const networkTransportOf = (config: TransportOptions, log?: Log): Transport =>
  config.transport === 'nats'
    ? natsTransport(natsOf(config), (sentence) => log?.error(sentence))
    : getNetworkTransport(config.transport)

/**
 * Return the transport between a master and the programs of its host. Over NATS their secrets would pass a third party, so that
 * they connect to the master directly.
 */
export const localTransportOf = ({ transport }: TransportOptions): Transport =>
  getTransport(transport === 'nats' ? 'zeromq' : transport)
