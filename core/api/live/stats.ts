import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../context.ts'
import { requiredToken } from '../identity.ts'
import type { Readers } from './readers.ts'

/** Add `GET /stats`: statistics of this server under CherryPy's names; empty with `collect_stats: false`. */
export function stats(app: FastifyInstance, context: ApiContext, readers: Readers): void {
  const { settings } = context
  const requests = settings.collect_stats ? new RequestStats(app) : undefined
  const open = settings.stats_disable_auth
  app.get('/stats', { config: open ? { open } : {} }, async (request) => {
    if (!open) await readers.tokens.require(requiredToken(request, context))
    return requests ? { ...requests.now(), 'Event readers': readers.hub.stats } : {}
  })
}

class RequestStats {
  /** Bytes of each connection that are counted already. A request has often arrived completely before its hook runs. */
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
        this.#countBytes(socket)
      })
    })
  }

  #countBytes(socket: Socket): void {
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
