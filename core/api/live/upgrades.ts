import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

interface Upgrade {
  readonly socket: Socket
  readonly head: Buffer
}

/** Whether the client asks to go over to another protocol. */
export const isUpgrade = ({ headers }: IncomingMessage, protocol: string): boolean =>
  headers.upgrade?.toLowerCase() === protocol

/**
 * Requests to go over to another protocol, brought to the routes like all others: so whatever is checked of a request
 * is checked of these. Those that no route takes over (`curl --http2`) are answered as if they had not asked.
 */
export class Upgrades {
  readonly #waiting = new WeakMap<IncomingMessage, Upgrade>()

  constructor(app: FastifyInstance) {
    app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on('error', () => socket.destroy())
      if (hasBody(request)) {
        socket.end(NO_BODY, () => socket.destroy())
        return
      }
      this.#waiting.set(request, { socket, head })
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      response.assignSocket(socket)
      // Nothing reads from it any more, nor looks how long it takes: so it is not left to the client to close it.
      response.on('finish', () => socket.end(() => socket.destroy()))
      app.routing(request, response)
    })
  }

  /** The connection of such a request, for whoever takes it over; nothing was written to it. */
  take(request: IncomingMessage, response: ServerResponse): Upgrade {
    const upgrade = this.#waiting.get(request) as Upgrade
    response.detachSocket(upgrade.socket)
    upgrade.socket.once('close', () => response.emit('close')) // for who counts what is open
    return upgrade
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const SENTENCE = 'A request with a body cannot ask for another protocol. Leave out the header Upgrade.'

const NO_BODY = [
  'HTTP/1.1 400 Bad Request',
  'Connection: close',
  'Content-Type: application/json',
  '',
  JSON.stringify({ status: 400, return: SENTENCE }),
].join('\r\n')
