import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyServerOptions } from 'fastify'
import { seldom } from '../../base/seldom.ts'
import type { ApiRoom } from '../room.ts'
import { httpServer, MAX_HEADERS } from './http-server.ts'

/** What the HTTP server itself looks after: TLS, sizes, time-outs, requests that are none. */
export function serverOptions(room: ApiRoom) {
  const { trust_proxy, max_request_body_size } = room.settings
  const say = seldom((sentence) => room.log.info(sentence), 1000)
  return {
    bodyLimit: max_request_body_size,
    trustProxy: trust_proxy.length > 0 ? [...trust_proxy] : false,
    serverFactory: (handler) => httpServer(room, handler),
    clientErrorHandler: (error, socket) => {
      const problem = problemOf(error.code)
      say(`A connection was closed: ${problem.sentence}`, error.code)
      refuse(socket as Socket, problem)
    },
  } satisfies FastifyServerOptions
}
interface Problem {
  readonly status: number
  readonly sentence: string
}

function problemOf(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, sentence: `The headers of a request are larger than ${MAX_HEADERS} bytes.` }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, sentence: 'A request did not arrive in time (request_timeout).' }
    default:
      return { status: 400, sentence: 'What was sent is not a request of HTTP/1.1.' }
  }
}

function refuse(socket: Socket, { status, sentence }: Problem): void {
  if (socket.writable && !socket.destroyed) {
    const body = JSON.stringify({ status, return: sentence })
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
  } else socket.destroy()
}
