import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Log } from '../author/context.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { contentTypes, expose, formatFor } from './exposition.ts'
import type { Snapshot } from './snapshot.ts'

export interface MetricsServerSettings {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** What there is to tell now. */
  gather(): Promise<Snapshot>
  readonly log: Log
}

export interface MetricsServer {
  readonly port: number
  close(): Promise<void>
}

/** Who scrapes is one or two programs: so many connections at once, and not for ever. */
const MOST_CONNECTIONS = 32
const IDLE_MS = 75_000
const REQUEST_MS = 5_000

/**
 * `GET /metrics` over plain HTTP, for a collector. Whoever asks while it is being gathered gets the same.
 * @throws SaltError ADDRESS_IN_USE or CONFIG_INVALID if nobody can be listened to there.
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
      respond(response, 500, 'Metrics could not be gathered; the log says why.\n')
    })
  })
  Object.assign(server, {
    maxConnections: MOST_CONNECTIONS,
    keepAliveTimeout: IDLE_MS,
    headersTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)))
    server.listen(port, host, resolve)
  })
  server.on('error', (error) => log.error(`The port of metrics: ${error.message}`))
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
  if (url.split('?')[0] !== '/metrics') return respond(response, 404, 'There is only /metrics here.\n')
  if (method !== 'GET' && method !== 'HEAD')
    return respond(response, 405, '/metrics is read with GET.\n', { allow: 'GET, HEAD' })
  const format = formatFor(headers.accept)
  respond(response, 200, expose(await gathered(), format), { 'content-type': contentTypes[format] })
}

/** To HEAD, Node sends the headers alone. */
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
