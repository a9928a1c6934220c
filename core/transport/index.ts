import { SaltError } from '../base/errors.ts'
import type { Transport } from './contract.ts'
import { memory } from './memory/index.ts'
import { zeromq } from './zeromq/index.ts'

const transports: ReadonlyMap<string, Transport> = new Map([zeromq, memory].map((t) => [t.name, t]))

/**
 * The transport that the option `transport` names.
 * @throws SaltError TRANSPORT_UNKNOWN, listing the known ones.
 */
export function getTransport(name: string): Transport {
  const transport = transports.get(name)
  if (transport) return transport
  const known = [...transports.keys()]
  throw new SaltError(
    'TRANSPORT_UNKNOWN',
    `There is no transport '${name}'; set the option 'transport' to one of: ${known.join(', ')}.`,
    { name, known },
  )
}

/**
 * The same for a program whose peers are in other processes.
 * @throws SaltError TRANSPORT_UNKNOWN also if that transport does not reach them.
 */
export function getNetworkTransport(name: string): Transport {
  const transport = getTransport(name)
  if (transport.reach === 'network') return transport
  const known = [...transports.values()].filter(({ reach }) => reach === 'network').map((each) => each.name)
  throw new SaltError(
    'TRANSPORT_UNKNOWN',
    `The transport '${name}' joins masters and minions of one process only; between programs set the option ` +
      `'transport' to one of: ${known.join(', ')}.`,
    { name, known },
  )
}
