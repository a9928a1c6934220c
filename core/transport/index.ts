import { SaltError } from '../base/errors.ts'
import type { Transport } from './contract.ts'
import { lazily } from './lazily.ts'
import { memory } from './memory/index.ts'
import type { NatsSettings } from './nats/settings.ts'
import { zeromq } from './zeromq/index.ts'

const tcp = lazily('tcp', async () => (await import('./tcp/index.ts')).tcp)
const ws = lazily('ws', async () => (await import('./ws/index.ts')).ws)

/** Return the transport over a cluster of NATS. Its servers and clients share one connection. */
export const natsTransport = (nats: NatsSettings, onProblem?: (sentence: string) => void): Transport =>
  lazily('nats', async () => (await import('./nats/index.ts')).natsTransport(nats, onProblem))

const transports: ReadonlyMap<string, Transport> = new Map([zeromq, tcp, ws, memory].map((t) => [t.name, t]))

const RAET = 'Salt removed RAET, its transport over UDP, in 2019'

/** Names of the transports that need no settings of their own. */
export const transportNames: readonly string[] = [...transports.keys()]

/** Names of the transports between processes. */
export const networkTransportNames: readonly string[] = [
  ...[...transports.values()].filter(({ reach }) => reach === 'network').map(({ name }) => name),
  'nats',
]

/**
 * Return the transport that the option `transport` names.
 * @throws SaltError TRANSPORT_UNKNOWN, listing the known ones
 */
export function getTransport(name: string): Transport {
  const transport = transports.get(name)
  if (transport) return transport
  const known = [...transportNames, 'nats']
  throw new SaltError(
    'TRANSPORT_UNKNOWN',
    `${name === 'raet' ? RAET : `There is no transport '${name}'`}; set the option 'transport' to one of: ${known.join(', ')}.`,
    { name, known },
  )
}

/**
 * Return the named transport for a program whose peers are in other processes.
 * @throws SaltError TRANSPORT_UNKNOWN also if that transport stays within one process
 */
export function getNetworkTransport(name: string): Transport {
  const transport = getTransport(name)
  if (transport.reach === 'network') return transport
  const known = networkTransportNames
  throw new SaltError(
    'TRANSPORT_UNKNOWN',
    `The transport '${name}' connects masters and minions of one process only; for several programs set the option ` +
      `'transport' to one of: ${known.join(', ')}.`,
    { name, known },
  )
}
