import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import type { ApiContext } from '../context.ts'

/** Maximum size of the headers of a request. */
export const MAX_HEADER_BYTES = 16 * 1024
/** How long a client has for the TLS handshake. */
const HANDSHAKE_TIMEOUT_MS = 10_000
const TLS = { minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] } as const

/** Create the HTTP server, with TLS if there is a certificate, which it replaces when that is reloaded. */
export function httpServer({ settings, certificate, log }: ApiContext, handler: RequestListener): Server {
  const options = {
    requestTimeout: settings.request_timeout * 1000,
    headersTimeout: settings.request_timeout * 1000,
    keepAliveTimeout: settings.keep_alive_timeout * 1000,
    connectionsCheckingInterval: Math.min(5, settings.request_timeout) * 1000,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
    keepAlive: true,
  }
  const server = certificate
    ? createTlsServer(
        { ...options, ...TLS, ...certificate.pem, handshakeTimeout: HANDSHAKE_TIMEOUT_MS },
        handler,
      )
    : createServer(options, handler)
  if (settings.max_connections > 0) server.maxConnections = settings.max_connections
  certificate?.watch((pem) => {
    if ('setSecureContext' in server) server.setSecureContext({ ...TLS, ...pem })
  })
  const say = onceInAWhile((sentence) => log.warn(sentence))
  server.on('tlsClientError', ({ code }: NodeJS.ErrnoException, { remoteAddress }: Socket) => {
    if (code === 'ERR_SSL_HTTP_REQUEST')
      say(
        `A client at ${remoteAddress} sent plain HTTP, but this server expects HTTPS (see disable_ssl).`,
        code,
      )
  })
  return server
}
