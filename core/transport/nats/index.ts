import type { Transport } from '../contract.ts'
import { SharedConnection } from './connection.ts'
import { subscribe } from './publish-client.ts'
import { servePublish } from './publish-server.ts'
import { connectRequests } from './request-client.ts'
import { openRequestPort } from './request-port.ts'
import type { NatsSettings } from './settings.ts'

/**
 * Messages over a cluster of NATS. Several masters with one prefix share the requests, and all publish. Hosts and ports are not
 * used. All servers and clients share one connection; `onProblem` is called with log messages about it.
 */
export function natsTransport(
  nats: NatsSettings,
  onProblem: (sentence: string) => void = () => {},
): Transport {
  const shared = new SharedConnection(nats, onProblem)
  return {
    name: 'nats',
    reach: 'network',
    openRequestPort: (settings) => openRequestPort(nats, shared.acquire(), settings),
    connectRequests: (settings) => connectRequests(nats, shared.acquire(), settings),
    servePublish: (settings) => servePublish(nats, shared.acquire(), settings),
    subscribe: (settings) => subscribe(nats, shared.acquire(), settings),
  }
}
