import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyServerOptions } from 'fastify'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import type { ApiContext } from '../context.ts'
import { httpServer, MAX_HEADER_BYTES } from './http-server.ts'

/** Return the options of fastify's server: TLS, sizes, time-outs, and answers to malformed requests. */
export function serverOptions(context: ApiContext) {
  const { trust_proxy, max_request_body_size } = context.settings
  const logRarely = onceInAWhile((sentence) => context.log.info(sentence), 1000)
  return {
    bodyLimit: max_request_body_size,
    trustProxy: trust_proxy.length > 0 ? [...trust_proxy] : false,
    serverFactory: (handler) => httpServer(context, handler),
    clientErrorHandler: (error, socket) => {
      const problem = problemOf(error.code)
      logRarely(`A connection was closed: ${problem.sentence}`, error.code)
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
      return { status: 431, sentence: `The headers of a request are larger than ${MAX_HEADER_BYTES} bytes.` }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, sentence: 'A request did not arrive in time (request_timeout).' }
    default:
      return { status: 400, sentence: 'The request is not HTTP/1.1.' }
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
