import type { Transport } from '../contract.ts'
import { subscribe } from './publish-client.ts'
import { servePublish } from './publish-server.ts'
import { connectRequests } from './request-client.ts'
import { serveRequests } from './request-server.ts'

/** Salt's transport, ZMTP over TCP (wire protocol §4 and §9): ROUTER–REQ for requests, XPUB–SUB for publications. */
export const zeromq: Transport = {
  name: 'zeromq',
  reach: 'network',
  serveRequests,
  connectRequests,
  servePublish,
  subscribe,
}
