import { isIP } from 'node:net'
import type { RequestClient, RequestSettings } from '../contract.ts'
import { cancelled, timedOut } from '../errors.ts'
import { checkPeerName } from './peer-name.ts'
import { RequestConnection } from './request-connection.ts'

/** Requests under way at once; further ones wait, and their time-out runs. */
const MAX_SOCKETS = 64
/** Connections that are kept for the next requests, and for how long all but one of them. Milliseconds. */
const MAX_IDLE = 16
const IDLE_MS = 10_000

/**
 * Each request has a REQ socket of its own while it is under way: Salt's master answers in any order, and nothing in
 * an answer tells which request it belongs to. A socket whose request got no answer is closed, so a late answer
 * reaches nobody; all others are used again.
 */
export function connectRequests(settings: RequestSettings): RequestClient {
  return new RequestPool(settings)
}

interface Exchange {
  readonly frame: Uint8Array
  connection?: RequestConnection
  settle(error: unknown, reply?: Uint8Array): void
}

class RequestPool implements RequestClient {
  readonly #settings: RequestSettings
  readonly #idle: RequestConnection[] = []
  readonly #underWay = new Set<Exchange>()
  readonly #waiting = new Set<Exchange>()
  #closed = false
  #trimming: NodeJS.Timeout | undefined

  constructor(settings: RequestSettings) {
    this.#settings = settings
  }

  request(frame: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const { host, port } = this.#settings
    if (this.#closed) return Promise.reject(cancelled(host, port))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => exchange.settle(timedOut(host, port, timeoutMs)), timeoutMs)
      const exchange: Exchange = {
        frame,
        settle: (error, reply) => {
          clearTimeout(timer)
          if (reply) resolve(reply)
          else reject(error)
          this.#end(exchange, reply !== undefined)
        },
      }
      this.#waiting.add(exchange)
      this.#startNext()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#trimming)
    const { host, port } = this.#settings
    for (const exchange of [...this.#waiting, ...this.#underWay]) exchange.settle(cancelled(host, port))
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  #startNext(): void {
    for (const exchange of this.#waiting) {
      if (this.#underWay.size >= MAX_SOCKETS) return
      this.#waiting.delete(exchange)
      this.#underWay.add(exchange)
      void this.#run(exchange)
    }
  }

  async #run(exchange: Exchange): Promise<void> {
    try {
      exchange.connection = this.#takeIdle() ?? (await this.#connect())
      if (!this.#underWay.has(exchange)) return exchange.connection.close() // its time was over meanwhile
      exchange.settle(undefined, await exchange.connection.ask(exchange.frame))
    } catch (error) {
      if (this.#underWay.has(exchange)) exchange.settle(error)
    }
  }

  async #connect(): Promise<RequestConnection> {
    if (isIP(this.#settings.host) !== 4) await checkPeerName(this.#settings)
    return new RequestConnection(this.#settings)
  }

  #end(exchange: Exchange, answered: boolean): void {
    this.#waiting.delete(exchange)
    this.#underWay.delete(exchange)
    const { connection } = exchange
    if (answered && connection && !this.#closed) this.#keep(connection)
    else connection?.close()
    if (!this.#closed) this.#startNext()
  }

  #keep(connection: RequestConnection): void {
    if (this.#idle.length < MAX_IDLE) this.#idle.push(connection)
    else connection.close()
    this.#trimming ??= setTimeout(() => {
      this.#trimming = undefined
      for (const idle of this.#idle.splice(1)) idle.close()
    }, IDLE_MS).unref()
  }

  /** One that was lost meanwhile may not come back. */
  #takeIdle(): RequestConnection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (!connection.lost) return connection
      connection.close()
    }
    return undefined
  }
}
