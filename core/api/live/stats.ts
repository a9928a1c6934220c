import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { tokenOf } from '../identity.ts'
import type { ApiRoom } from '../room.ts'
import type { Readers } from './readers.ts'

/** `GET /stats`: figures of this server, in CherryPy's names, for what reads those; none with `collect_stats: false`. */
export function stats(app: FastifyInstance, room: ApiRoom, readers: Readers): void {
  const { settings } = room
  const figures = settings.collect_stats ? new Figures(app) : undefined
  const open = settings.stats_disable_auth
  app.get('/stats', { config: open ? { open } : {} }, async (request) => {
    if (!open) await readers.tokens.require(tokenOf(request, room))
    return figures ? { ...figures.now(), 'Event readers': readers.hub.figures } : {}
  })
}

class Figures {
  /** Of each connection: how many of its bytes are counted. A request has often arrived whole before it is seen. */
  readonly #counted = new WeakMap<Socket, { read: number; written: number }>()
  readonly #started = Date.now()
  #current = 0
  #requests = 0
  #read = 0
  #written = 0
  #seconds = 0

  constructor(app: FastifyInstance) {
    app.addHook('onRequest', async ({ socket }, reply) => {
      const begun = performance.now()
      this.#current++
      this.#requests++
      reply.raw.once('close', () => {
        this.#current--
        this.#seconds += (performance.now() - begun) / 1000
        this.#count(socket)
      })
    })
  }

  #count(socket: Socket): void {
    const { bytesRead: read = 0, bytesWritten: written = 0 } = socket
    const before = this.#counted.get(socket) ?? { read: 0, written: 0 }
    this.#read += read - before.read
    this.#written += written - before.written
    this.#counted.set(socket, { read, written })
  }

  now() {
    const uptime = (Date.now() - this.#started) / 1000
    return {
      'CherryPy Applications': {
        Enabled: true,
        'Bytes Read/Request': this.#read / Math.max(1, this.#requests),
        'Bytes Read/Second': this.#read / uptime,
        'Bytes Written/Request': this.#written / Math.max(1, this.#requests),
        'Bytes Written/Second': this.#written / uptime,
        'Current Requests': this.#current,
        'Current Time': Date.now() / 1000,
        'Requests/Second': this.#requests / uptime,
        'Start Time': this.#started / 1000,
        'Total Bytes Read': this.#read,
        'Total Bytes Written': this.#written,
        'Total Requests': this.#requests,
        'Total Time': this.#seconds,
        Uptime: uptime,
      },
    }
  }
}
