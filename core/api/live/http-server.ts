import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { seldom } from '../../base/seldom.ts'
import type { ApiRoom } from '../room.ts'

/** Bytes of all headers of a request. */
export const MAX_HEADERS = 16 * 1024
/** A client has so long for the handshake of TLS. Milliseconds. */
const HANDSHAKE_MS = 10_000
const TLS = { minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] } as const

/** The server under the routes; with TLS if there is a certificate, of which it takes every new one. */
export function httpServer({ settings, certificate, log }: ApiRoom, handler: RequestListener): Server {
  const options = {
    requestTimeout: settings.request_timeout * 1000,
    headersTimeout: settings.request_timeout * 1000,
    keepAliveTimeout: settings.keep_alive_timeout * 1000,
    connectionsCheckingInterval: Math.min(5, settings.request_timeout) * 1000,
    maxHeaderSize: MAX_HEADERS,
    noDelay: true,
    keepAlive: true,
  }
  const server = certificate
    ? createTlsServer({ ...options, ...TLS, ...certificate.pem, handshakeTimeout: HANDSHAKE_MS }, handler)
    : createServer(options, handler)
  if (settings.max_connections > 0) server.maxConnections = settings.max_connections
  certificate?.watch((pem) => {
    if ('setSecureContext' in server) server.setSecureContext({ ...TLS, ...pem })
  })
  const say = seldom((sentence) => log.warn(sentence))
  server.on('tlsClientError', ({ code }: NodeJS.ErrnoException, { remoteAddress }: Socket) => {
    if (code === 'ERR_SSL_HTTP_REQUEST')
      say(`A client at ${remoteAddress} speaks plain HTTP, but this server HTTPS (see disable_ssl).`, code)
  })
  server.once('close', () => certificate?.close())
  return server
}
