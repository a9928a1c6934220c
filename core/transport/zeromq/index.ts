import type { Transport } from '../contract.ts'
import { RequestPool } from '../request-pool.ts'
import { subscribe } from './publish-client.ts'
import { servePublish } from './publish-server.ts'
import { RequestConnection } from './request-connection.ts'
import { openRequestPort } from './request-port.ts'

/** Salt's transport, ZMTP over TCP (wire protocol §4 and §9): ROUTER–REQ for requests, XPUB–SUB for publications. */
export const zeromq: Transport = {
  name: 'zeromq',
  reach: 'network',
  openRequestPort,
  connectRequests: (settings) => new RequestPool(settings, () => new RequestConnection(settings)),
  servePublish,
  subscribe,
}
