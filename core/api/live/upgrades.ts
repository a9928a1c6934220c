import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'

interface Upgrade {
  readonly socket: Socket
  readonly head: Buffer
}

/** Whether the request asks to switch to the protocol. */
export const isUpgrade = ({ headers }: IncomingMessage, protocol: string): boolean =>
  headers.upgrade?.toLowerCase() === protocol

/**
 * Routes upgrade requests like all others, so that all checks apply to them. Requests that no route takes over (`curl
 * --http2`) are answered as if they had not asked to upgrade.
 */
export class Upgrades {
  readonly #upgrades = new WeakMap<IncomingMessage, Upgrade>()

  constructor(app: FastifyInstance) {
    app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on('error', () => socket.destroy())
      if (hasBody(request)) {
        refuseUpgrade(socket, NO_BODY)
        return
      }
      this.#upgrades.set(request, { socket, head })
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      response.assignSocket(socket)
      // No parser and no time-out watches this socket any more, so the server closes it.
      response.on('finish', () => socket.end(() => socket.destroy()))
      app.routing(request, response)
    })
  }

  /** Return the connection of an upgrade request. Nothing was written to it. */
  take(request: IncomingMessage, response: ServerResponse): Upgrade {
    const upgrade = this.#upgrades.get(request) as Upgrade
    response.detachSocket(upgrade.socket)
    upgrade.socket.once('close', () => response.emit('close')) // for the hooks that count requests in progress
    return upgrade
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const NO_BODY = 'A request with a body cannot ask for another protocol. Leave out the header Upgrade.'

/** Answer a request that asked to upgrade and whose socket no server watches any more: 400 with a sentence. */
export function refuseUpgrade(socket: Duplex, sentence: string, headers: readonly string[] = []): void {
  const answer = [
    'HTTP/1.1 400 Bad Request',
    'Connection: close',
    'Content-Type: application/json',
    ...headers,
    '',
    JSON.stringify({ status: 400, return: sentence }),
  ]
  socket.end(answer.join('\r\n'), () => socket.destroy())
}
