import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Log } from '../author/context.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { contentTypes, formatFor, formatMetrics } from './exposition.ts'
import type { Snapshot } from './snapshot.ts'

export interface MetricsServerSettings {
  readonly host: string
  /** TCP port; 0 for any free one. */
  readonly port: number
  /** Resolves with the current metrics. */
  gather(): Promise<Snapshot>
  readonly log: Log
}

export interface MetricsServer {
  readonly port: number
  close(): Promise<void>
}

/** Maximum number of connections. Usually only one or two programs scrape. */
const MAX_CONNECTIONS = 32
/** Time after which an idle connection is closed. */
const IDLE_MS = 75_000
/** Time limit for receiving a request. */
const REQUEST_MS = 5_000

/**
 * Serve `GET /metrics` over plain HTTP. Concurrent requests share one snapshot. Rejects with ADDRESS_IN_USE or CONFIG_INVALID if the
 * address cannot be used.
 */
export async function serveMetrics({
  host,
  port,
  gather,
  log,
}: MetricsServerSettings): Promise<MetricsServer> {
  let gathering: Promise<Snapshot> | undefined
  const gathered = () => {
    gathering ??= gather().finally(() => {
      gathering = undefined
    })
    return gathering
  }
  const server = createServer((request, response) => {
    answer(request, response, gathered).catch((error: unknown) => {
      log.error(`Metrics could not be gathered: ${messageOf(error)}`)
      respond(response, 500, 'Metrics could not be gathered; see the log.\n')
    })
  })
  Object.assign(server, {
    maxConnections: MAX_CONNECTIONS,
    keepAliveTimeout: IDLE_MS,
    headersTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)))
    server.listen(port, host, resolve)
  })
  server.on('error', (error) => log.error(`The server of metrics failed: ${error.message}`))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
  gathered: () => Promise<Snapshot>,
): Promise<void> {
  if (url.split('?')[0] !== '/metrics')
    return respond(response, 404, 'Not found: this server has only /metrics.\n')
  if (method !== 'GET' && method !== 'HEAD')
    return respond(response, 405, 'Method not allowed: use GET.\n', { allow: 'GET, HEAD' })
  const format = formatFor(headers.accept)
  respond(response, 200, formatMetrics(await gathered(), format), { 'content-type': contentTypes[format] })
}

/** Send a response. For HEAD, Node omits the body. */
function respond(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  response.writeHead(status, { ...plain, ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}

function cannotListen({ code, message }: NodeJS.ErrnoException, host: string, port: number): SaltError {
  const where = `Metrics cannot be served at ${host}, port ${port}`
  return code === 'EADDRINUSE'
    ? new SaltError('ADDRESS_IN_USE', `${where}: another program listens there. Set another metrics_port.`)
    : new SaltError('CONFIG_INVALID', `${where}: ${message}. Check metrics_interface and metrics_port.`)
}
