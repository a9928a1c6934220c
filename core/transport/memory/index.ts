import type { Transport } from '../contract.ts'
import { servePublish, subscribe } from './publish.ts'
import { connectRequests, openRequestPort } from './request.ts'

/**
 * Connects peers in one process, for tests and embedding: a whole cluster starts in milliseconds. Behaves like
 * `zeromq`.
 */
export const memory: Transport = {
  name: 'memory',
  reach: 'process',
  openRequestPort,
  connectRequests,
  servePublish,
  subscribe,
}
