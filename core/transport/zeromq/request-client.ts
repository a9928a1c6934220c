import type { RequestClient, RequestSettings } from '../contract.ts'
import { cancelled, keptWaiting, timedOut } from '../errors.ts'
import { RequestConnection } from './request-connection.ts'

/** Connections that are in use or on their way; further requests wait, and their time-out runs. */
const MAX_SOCKETS = 64
/** Connections that are kept for the next requests, and for how long all but one of them. Milliseconds. */
const MAX_IDLE = 16
const IDLE_MS = 10_000

/**
 * Each request has a REQ socket of its own while it is under way: Salt's master answers in any order, and nothing in
 * an answer tells which request it belongs to. A socket whose request got no answer is closed, so a late answer
 * reaches nobody; all others are used again. Each request that finds none has one opened, and takes whichever is free
 * first: a server that takes no new connections answers on those there are.
 */
export function connectRequests(settings: RequestSettings): RequestClient {
  return new RequestPool(settings)
}

interface Exchange {
  readonly frame: Uint8Array
  settle(error: unknown, reply?: Uint8Array): void
}

class RequestPool implements RequestClient {
  readonly #settings: RequestSettings
  /** Connections that are on their way, and those that are up and free. */
  readonly #coming = new Set<RequestConnection>()
  readonly #idle: RequestConnection[] = []
  readonly #underWay = new Map<Exchange, RequestConnection>()
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
      const giveUp = () => {
        const isKept = this.#waiting.has(exchange) && [...this.#coming].some((one) => one.keptWaiting)
        exchange.settle((isKept ? keptWaiting : timedOut)(host, port, timeoutMs))
      }
      const timer = setTimeout(giveUp, timeoutMs)
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
    for (const exchange of [...this.#waiting, ...this.#underWay.keys()])
      exchange.settle(cancelled(host, port))
    for (const connection of this.#idle.splice(0)) connection.close()
    this.#closeUnwanted()
  }

  /** Give those who wait what is free, and have as many connections opened as that leaves without. */
  #startNext(): void {
    for (const exchange of this.#waiting) {
      const connection = this.#takeIdle()
      if (!connection) break
      this.#waiting.delete(exchange)
      this.#underWay.set(exchange, connection)
      void this.#run(exchange, connection)
    }
    const wanted = Math.min(this.#waiting.size, MAX_SOCKETS - this.#underWay.size)
    while (this.#coming.size < wanted) void this.#connect()
  }

  async #run(exchange: Exchange, connection: RequestConnection): Promise<void> {
    const end = (...outcome: Parameters<Exchange['settle']>) => {
      if (this.#underWay.has(exchange)) exchange.settle(...outcome)
    }
    await connection.ask(exchange.frame).then((reply) => end(undefined, reply), end)
  }

  async #connect(): Promise<void> {
    const connection = new RequestConnection(this.#settings)
    this.#coming.add(connection)
    try {
      await connection.open()
      if (this.#coming.delete(connection)) this.#keep(connection)
    } catch (error) {
      if (!this.#coming.delete(connection)) return // nobody wanted it any more
      connection.close()
      const waiting = [...this.#waiting]
      this.#waiting.clear()
      for (const exchange of waiting) exchange.settle(error)
    }
  }

  #end(exchange: Exchange, answered: boolean): void {
    const connection = this.#underWay.get(exchange)
    this.#waiting.delete(exchange)
    this.#underWay.delete(exchange)
    if (answered && connection && !this.#closed) this.#keep(connection)
    else {
      connection?.close()
      this.#closeUnwanted()
      if (!this.#closed) this.#startNext()
    }
  }

  #keep(connection: RequestConnection): void {
    this.#idle.push(connection)
    this.#startNext()
    if (this.#idle.length > MAX_IDLE) this.#idle.shift()?.close()
    this.#trimming ??= setTimeout(() => {
      this.#trimming = undefined
      for (const idle of this.#idle.splice(1)) idle.close()
      this.#closeUnwanted()
    }, IDLE_MS).unref()
  }

  /** Those on their way that would come for nobody. */
  #closeUnwanted(): void {
    for (const connection of this.#coming) {
      if (this.#coming.size <= this.#waiting.size) return
      this.#coming.delete(connection)
      connection.close()
    }
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
