import type { Transport } from '../contract.ts'
import { servePublish, subscribe } from './publish.ts'
import { connectRequests, serveRequests } from './request.ts'

/**
 * Connects peers in one process, for tests and embedding: a whole cluster starts in milliseconds. Behaves like
 * `zeromq`.
 */
export const memory: Transport = {
  name: 'memory',
  reach: 'process',
  serveRequests,
  connectRequests,
  servePublish,
  subscribe,
}
