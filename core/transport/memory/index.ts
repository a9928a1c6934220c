import type { Transport } from '../contract.ts'
import { servePublish, subscribe } from './publish.ts'
import { connectRequests, serveRequests } from './request.ts'

/** Peers in one process: a whole cluster in milliseconds, for tests and for embedding. Behaves as `zeromq` does. */
export const memory: Transport = {
  name: 'memory',
  reach: 'process',
  serveRequests,
  connectRequests,
  servePublish,
  subscribe,
}
