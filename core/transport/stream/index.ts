import type { Transport } from '../contract.ts'
import { RequestPool } from '../request-pool.ts'
import type { StreamProtocol } from './contract.ts'
import { subscribe } from './publish-client.ts'
import { servePublish } from './publish-server.ts'
import { StreamRequestConnection } from './request-connection.ts'
import { openRequestPort } from './request-port.ts'

/** Create the transport of a protocol that carries messages over TCP connections. */
export const streamTransport = (protocol: StreamProtocol): Transport => ({
  name: protocol.name,
  reach: 'network',
  openRequestPort: (settings) => openRequestPort(protocol, settings),
  connectRequests: (settings) =>
    new RequestPool(settings, () => new StreamRequestConnection(protocol, settings)),
  servePublish: (settings) => servePublish(protocol, settings),
  subscribe: (settings) => subscribe(protocol, settings),
})
