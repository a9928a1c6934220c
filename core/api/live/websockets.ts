import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import type { ApiContext } from '../context.ts'
import { denial } from '../denials.ts'
import { httpError } from '../http-errors.ts'
import { throwIfClientLeft } from '../waits.ts'
import type { FrameSink, StreamReader } from './frame-stream.ts'
import type { Frame } from './frames.ts'
import type { Admitted, Readers } from './readers.ts'
import { tokenOfReader } from './tokens.ts'
import { isUpgrade, refuseUpgrade, Upgrades } from './upgrades.ts'

/** The message with which a client asks for events. */
const READY = 'websocket client ready'
const PING_MS = 30_000
const FAREWELL_MS = 1000
/** Close codes (RFC 6455 §7.4.1 and its registry). */
const CLOSE_CODE = { policy: 1008, stopping: 1001, tryLater: 1013 } as const

/** The version of the protocol, for clients that ask for another one (RFC 6455 §4.4). */
const VERSION = 'Sec-WebSocket-Version: 13'

type Encoding = (frame: Frame) => Buffer | undefined
const asCherrypy: Encoding = ({ websocket }) => websocket
const asTornado: Encoding = ({ plain }) => plain

/** Add the events of the master as websockets: `/ws` of rest_cherrypy, and the two paths of rest_tornado. */
export function websockets(app: FastifyInstance, context: ApiContext, readers: Readers): void {
  const upgrades = new Upgrades(app)
  const tokenOf = (request: FastifyRequest): string | undefined =>
    (request.params as { token?: string }).token ?? tokenOfReader(request, context)
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: 4096,
  })
  server.on('wsClientError', ({ message }, socket) => refuseUpgrade(socket, `${message}.`, [VERSION]))
  const serve = async (request: FastifyRequest, reply: FastifyReply, form: Encoding, formatted: boolean) => {
    checkHandshake(request, context)
    const admitted = await readers.admit(tokenOf(request), request)
    throwIfClientLeft(reply)
    const socket = await upgrade(server, upgrades, request.raw, reply)
    if (socket) new EventSocket(socket, request, admitted, readers).open(form, formatted)
  }
  const cherrypy = (request: FastifyRequest, reply: FastifyReply) =>
    serve(request, reply, asCherrypy, 'format_events' in (request.query as object))
  const query = ['token', 'salt_token', 'tag', 'format_events']
  const config = { endless: true, fixedFormat: true, tokenOf, query } as const
  app.get('/ws', { config, exposeHeadRoute: false }, cherrypy)
  app.get('/ws/:token', { config, exposeHeadRoute: false }, cherrypy)
  app.get('/all_events/:token', { config, exposeHeadRoute: false }, (request, reply) =>
    serve(request, reply, asTornado, false),
  )
  app.get('/formatted_events/:token', { config, exposeHeadRoute: false }, (request, reply) =>
    serve(request, reply, asTornado, true),
  )
}

/** @throws SaltError with status 400 or 403 */
function checkHandshake({ raw, headers, routeOptions }: FastifyRequest, { settings }: ApiContext): void {
  if (!isUpgrade(raw, 'websocket')) throw httpError(400, `${routeOptions.url} serves websockets only.`)
  if (mayOpenWebSocket(headers, settings.cors_origin)) return
  const sentence = 'Pages of this origin may not open websockets here; see cors_origin.'
  throw denial('AUTHORIZATION_FAILED', sentence, { rule: 'cors_origin' })
}

/**
 * Whether a page may open a websocket, which browsers do not check: pages of this server may, and those of the
 * origins in `cors_origin`. Programs other than browsers send no Origin.
 */
function mayOpenWebSocket({ origin, host }: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return true
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()
}

/** Complete the handshake. Undefined if `ws` refused it. */
function upgrade(
  server: WebSocketServer,
  upgrades: Upgrades,
  request: IncomingMessage,
  reply: FastifyReply,
): Promise<WebSocket | undefined> {
  const { socket, head } = upgrades.take(request, reply.hijack().raw)
  return new Promise((resolve) => {
    socket.once('close', () => resolve(undefined))
    server.handleUpgrade(request, socket, head, resolve)
  })
}

class EventSocket {
  readonly #socket: WebSocket
  readonly #request: FastifyRequest
  readonly #admitted: Admitted
  readonly #readers: Readers
  #alive = true

  constructor(socket: WebSocket, request: FastifyRequest, admitted: Admitted, readers: Readers) {
    this.#socket = socket
    this.#request = request
    this.#admitted = admitted
    this.#readers = readers
  }

  /** Send events once the client says that it is ready. */
  open(form: Encoding, formatted: boolean): void {
    const socket = this.#socket
    const release = this.#readers.register(this.#admitted, (why, stopping) =>
      this.#close(stopping ? CLOSE_CODE.stopping : CLOSE_CODE.policy, why),
    )
    const pings = setInterval(() => this.#ping(), PING_MS).unref()
    let reader: StreamReader | undefined
    socket.on('message', (message) => {
      if (String(message) === READY) reader ??= this.#read(form, formatted)
    })
    socket.on('pong', () => {
      this.#alive = true
    })
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      clearInterval(pings)
      reader?.close()
      release()
    })
  }

  #read(form: Encoding, formatted: boolean): StreamReader {
    const { hub } = this.#readers
    const sink = this.#sink(form)
    return formatted ? hub.readSummaries(sink, this.#admitted.filter) : hub.read(sink, this.#admitted.filter)
  }

  #sink(form: Encoding): FrameSink<Frame> {
    return {
      write: ({ frames }, done) => {
        const messages = frames.map(form).filter((message) => message !== undefined)
        const last = messages.pop()
        if (last === undefined) return queueMicrotask(done)
        for (const message of messages) this.#socket.send(message, TEXT)
        this.#socket.send(last, TEXT, (error) => !error && done())
      },
      drop: (reason) => {
        this.#readers.noteDropped(this.#request, this.#admitted, reason)
        this.#close(CLOSE_CODE.tryLater, reason)
      },
    }
  }

  #ping(): void {
    if (!this.#alive) this.#socket.terminate()
    else this.#socket.ping()
    this.#alive = false
  }

  #close(code: number, reason: string): void {
    this.#socket.close(code, reason)
    setTimeout(() => this.#socket.terminate(), FAREWELL_MS).unref()
  }
}

const TEXT = { binary: false } as const
