import { connect as connectSocket, createServer, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import type { ClientSettings, ServerSettings } from '../contract.ts'
import type { ConnectListener, Link, LinkListener, StreamProtocol } from '../stream/contract.ts'
import { streamTransport } from '../stream/index.ts'
import { listen } from '../stream/listen.ts'
import { tlsClientOptions, tlsServerOptions } from '../stream/tls.ts'
import { SocketLink } from './link.ts'

const protocol: StreamProtocol = {
  name: 'tcp',
  hasHeads: true,
  listen(settings: ServerSettings, accept: (link: Link) => LinkListener) {
    const open = (socket: Socket) => void new SocketLink(socket, settings, accept)
    const server = settings.tls
      ? createTlsServer(tlsServerOptions(settings.tls), open)
      : createServer({ noDelay: true }, open)
    return listen(server, settings)
  },
  connect(settings: ClientSettings, listener: ConnectListener) {
    const { host, port, sourceAddress, ipv6 } = settings
    const place = {
      host,
      port,
      ...(sourceAddress && { localAddress: sourceAddress }),
      ...(!ipv6 && { family: 4 }),
    }
    const { tls } = settings
    const socket = tls ? connectTls({ ...place, ...tlsClientOptions(tls) }) : connectSocket(place)
    socket.once('connect', () => listener.onReached?.())
    socket.once(tls ? 'secureConnect' : 'connect', () => listener.onOpen())
    return new SocketLink(socket, settings, () => listener)
  },
}

/** Salt's transport `tcp` (wire protocol §18): frames over TCP or TLS. */
export const tcp = streamTransport(protocol)
