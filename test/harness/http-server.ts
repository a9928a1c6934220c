/** An HTTP server of a test, on loopback. */
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** By default 200, and no text. */
export interface Told {
  readonly status?: number
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface HttpServer {
  readonly url: string
  readonly port: number
  close(): Promise<void>
}

interface Choice {
  readonly port?: number
  /** With TLS. */
  readonly cert?: { readonly cert: Buffer; readonly key: Buffer }
}

/** `undefined` for what is never answered. */
export async function httpServer(
  answer: (asked: Asked) => Told | undefined | Promise<Told | undefined>,
  { port = 0, cert }: Choice = {},
): Promise<HttpServer> {
  const server = cert ? createTlsServer(cert) : createServer()
  server.on('request', async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const { method = '', headers } = request
    const told = await answer({
      method,
      path: pathname,
      query: searchParams,
      headers,
      body: await text(request),
    })
    if (told) response.writeHead(told.status ?? 200, told.headers).end(told.text)
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  const { port: taken } = server.address() as AddressInfo
  return {
    port: taken,
    url: `${cert ? 'https' : 'http'}://127.0.0.1:${taken}/`,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
