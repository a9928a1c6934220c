import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { checkPresence } from '../calling.ts'
import { denial } from '../denials.ts'
import { refusal } from '../problems.ts'
import type { ApiRoom } from '../room.ts'
import type { Sink, StreamReader } from './frame-stream.ts'
import type { Frame } from './frames.ts'
import { mayOpen } from './origins.ts'
import type { Admitted, Readers } from './readers.ts'
import { tokenOfReader } from './tokens.ts'
import { isUpgrade, Upgrades } from './upgrades.ts'

/** What a client says when it is ready for events. */
const READY = 'websocket client ready'
const PING_MS = 30_000
const FAREWELL_MS = 1000
/** RFC 6455 §7.4.1 and its registry. */
const close = { policy: 1008, stopping: 1001, tryLater: 1013 } as const

type Form = (frame: Frame) => Buffer | undefined
const asCherrypy: Form = ({ websocket }) => websocket
const asTornado: Form = ({ plain }) => plain

/** The events of the master by websocket: `/ws` of Salt's rest_cherrypy, and the two paths of rest_tornado. */
export function websockets(app: FastifyInstance, room: ApiRoom, readers: Readers): void {
  const upgrades = new Upgrades(app)
  const tokenOf = (request: FastifyRequest): string | undefined =>
    (request.params as { token?: string }).token ?? tokenOfReader(request, room)
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: 4096,
  })
  const serve = async (request: FastifyRequest, reply: FastifyReply, form: Form, formatted: boolean) => {
    if (!isUpgrade(request.raw, 'websocket'))
      throw refusal(400, `${request.routeOptions.url} is for websockets; this request is none.`)
    if (!mayOpen(request.headers, room.settings.cors_origin))
      throw denial(
        'AUTHORIZATION_FAILED',
        'Pages of this origin may not open websockets here; see cors_origin.',
        {
          rule: 'cors_origin',
        },
      )
    const admitted = await readers.admit(tokenOf(request), request)
    checkPresence(reply)
    const socket = await upgrade(server, upgrades, request.raw, reply)
    if (socket) new EventSocket(socket, request, admitted, readers).open(form, formatted)
  }
  const cherrypy = (request: FastifyRequest, reply: FastifyReply) =>
    serve(request, reply, asCherrypy, 'format_events' in (request.query as object))
  const query = ['token', 'salt_token', 'tag', 'format_events']
  const config = { endless: true, writesItself: true, tokenOf, query } as const
  app.get('/ws', { config, exposeHeadRoute: false }, cherrypy)
  app.get('/ws/:token', { config, exposeHeadRoute: false }, cherrypy)
  app.get('/all_events/:token', { config, exposeHeadRoute: false }, (request, reply) =>
    serve(request, reply, asTornado, false),
  )
  app.get('/formatted_events/:token', { config, exposeHeadRoute: false }, (request, reply) =>
    serve(request, reply, asTornado, true),
  )
}

/** Undefined if `ws` has refused the handshake, and answered. */
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

  /** Nothing is sent before the client says that it is ready. */
  open(form: Form, formatted: boolean): void {
    const socket = this.#socket
    const release = this.#readers.keep(this.#admitted, (why, stopping) =>
      this.#close(stopping ? close.stopping : close.policy, why),
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

  #read(form: Form, formatted: boolean): StreamReader {
    const { hub } = this.#readers
    const sink = this.#sink(form)
    return formatted ? hub.readSummaries(sink, this.#admitted.wish) : hub.read(sink, this.#admitted.wish)
  }

  #sink(form: Form): Sink<Frame> {
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
        this.#close(close.tryLater, reason)
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
