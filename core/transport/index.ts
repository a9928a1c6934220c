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
