import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIPv6 } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { MAX_MESSAGE_BYTES } from '../../wire/message-size.ts'
import type { ClientSettings, ServerSettings } from '../contract.ts'
import type { ConnectListener, Link, LinkListener, StreamProtocol } from '../stream/contract.ts'
import { streamTransport } from '../stream/index.ts'
import { setKeepAlive } from '../stream/keep-alive.ts'
import { listen } from '../stream/listen.ts'
import { tlsClientOptions, tlsServerOptions } from '../stream/tls.ts'
import { WebSocketLink } from './link.ts'

const UPGRADE_REQUIRED = 426
const PATH = '/ws'
/** How long a peer may take to ask for a WebSocket, and how often Node looks. */
const timeLimits = { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 }

const protocol: StreamProtocol = {
  name: 'ws',
  hasHeads: false,

  async listen(settings: ServerSettings, accept: (link: Link) => LinkListener) {
    const { tls, keepAlive, maxFrameSize } = settings
    const server = tls
      ? createTlsServer({ ...tlsServerOptions(tls), ...timeLimits }, refuse)
      : createServer(timeLimits, refuse)
    const websockets = new WebSocketServer({
      server,
      ...limits(maxFrameSize),
      clientTracking: false,
      // Only browsers send an origin, and no page has any business here.
      verifyClient: ({ origin }: { readonly origin: string | undefined }) => origin === undefined,
    })
    websockets.on('error', () => {}) // those of the server, which `listen` handles
    websockets.on('connection', (websocket, { socket }) => {
      setKeepAlive(socket, keepAlive)
      new WebSocketLink(websocket, accept).socket = socket
    })
    return listen(server, settings)
  },

  connect(settings: ClientSettings, listener: ConnectListener) {
    const { host, port, sourceAddress, ipv6, tls, keepAlive, maxFrameSize } = settings
    const place = `${isIPv6(host) ? `[${host}]` : host}:${port}`
    const websocket = new WebSocket(`${tls ? 'wss' : 'ws'}://${place}${PATH}`, {
      ...limits(maxFrameSize),
      ...(sourceAddress && { localAddress: sourceAddress }),
      ...(!ipv6 && { family: 4 }),
      ...(tls && tlsClientOptions(tls)),
      finishRequest(request) {
        request.once('socket', (socket) => socket.once('connect', () => listener.onReached?.()))
        request.end()
      },
    })
    const link = new WebSocketLink(websocket, () => listener)
    websocket.once('upgrade', ({ socket }) => {
      setKeepAlive(socket, keepAlive)
      link.socket = socket
    })
    websocket.once('open', () => listener.onOpen())
    return link
  },
}

/** Messages are encrypted, so that they cannot be compressed. */
const limits = (maxFrameSize = MAX_MESSAGE_BYTES) => ({ maxPayload: maxFrameSize, perMessageDeflate: false })

const refuse: RequestListener = (_, response) => {
  response.writeHead(UPGRADE_REQUIRED, { 'content-type': 'text/plain' })
  response.end('This is a port of a Salt master: it takes WebSocket connections.\n')
}

/** Salt's transport `ws` (Salt 3007): each message is a binary message of a WebSocket. */
export const ws = streamTransport(protocol)
