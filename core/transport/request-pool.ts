import type { RequestClient, RequestSettings } from './contract.ts'
import { noHandshake, requestCancelled, timedOut } from './errors.ts'

/** Connections in use or being opened, at most. Further requests wait, and their timeouts run. */
const MAX_CONNECTIONS = 64
/** Connections that are kept for later requests, at most. */
const MAX_IDLE = 16
/** How long connections other than one are kept. */
const IDLE_MS = 10_000

/** A connection for one request at a time. It is used once it is open, until it is lost. */
export interface PooledConnection {
  /**
   * Connect. Resolves after the handshake, however long that takes. Rejects if the address is invalid or the connection is
   * closed meanwhile; with `failFast` also if nothing listens.
   */
  open(): Promise<void>
  /** Send a request, and return the answer. Rejects if the connection is closed or lost meanwhile. */
  ask(frame: Uint8Array): Promise<Uint8Array>
  close(): void
  /** Whether the connection was lost, and possibly a request with it. */
  readonly lost: boolean
  /** Whether something listens at the address, but has not completed the handshake. */
  readonly awaitsHandshake: boolean
}

interface Exchange {
  readonly frame: Uint8Array
  settle(error: unknown, reply?: Uint8Array): void
}

/**
 * A client that gives each pending request a connection to itself: Salt's master answers in any order, and answers over
 * ZeroMQ and WebSocket have no reference to their requests; over TCP, a master of Python Salt answers each connection from
 * one worker. A connection whose request got no answer is closed, so that a late answer is discarded; others are used again.
 * For a request without a free connection one is opened, but it takes the first that becomes free: a server that accepts no
 * new connections still answers on existing ones.
 */
export class RequestPool implements RequestClient {
  readonly #settings: RequestSettings
  readonly #newConnection: () => PooledConnection
  /** Connections that are being opened. */
  readonly #opening = new Set<PooledConnection>()
  /** Connections that are up and free. */
  readonly #idle: PooledConnection[] = []
  readonly #pending = new Map<Exchange, PooledConnection>()
  readonly #waiting = new Set<Exchange>()
  #closed = false
  #trimming: NodeJS.Timeout | undefined

  constructor(settings: RequestSettings, newConnection: () => PooledConnection) {
    this.#settings = settings
    this.#newConnection = newConnection
  }

  request(frame: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const { host, port } = this.#settings
    if (this.#closed) return Promise.reject(requestCancelled(host, port))
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        const isUnserved =
          this.#waiting.has(exchange) && [...this.#opening].some((one) => one.awaitsHandshake)
        exchange.settle((isUnserved ? noHandshake : timedOut)(host, port, timeoutMs))
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
    for (const exchange of [...this.#waiting, ...this.#pending.keys()])
      exchange.settle(requestCancelled(host, port))
    for (const connection of this.#idle.splice(0)) connection.close()
    this.#closeSurplus()
  }

  /** Assign free connections to waiting requests, and open connections for the remaining ones. */
  #startNext(): void {
    for (const exchange of this.#waiting) {
      const connection = this.#takeIdle()
      if (!connection) break
      this.#waiting.delete(exchange)
      this.#pending.set(exchange, connection)
      void this.#run(exchange, connection)
    }
    const needed = Math.min(this.#waiting.size, MAX_CONNECTIONS - this.#pending.size)
    while (this.#opening.size < needed) void this.#connect()
  }

  async #run(exchange: Exchange, connection: PooledConnection): Promise<void> {
    const end = (...outcome: Parameters<Exchange['settle']>) => {
      if (this.#pending.has(exchange)) exchange.settle(...outcome)
    }
    await connection.ask(exchange.frame).then((reply) => end(undefined, reply), end)
  }

  async #connect(): Promise<void> {
    const connection = this.#newConnection()
    this.#opening.add(connection)
    try {
      await connection.open()
      if (this.#opening.delete(connection)) this.#keep(connection)
    } catch (error) {
      if (!this.#opening.delete(connection)) return // it was closed as surplus
      connection.close()
      const waiting = [...this.#waiting]
      this.#waiting.clear()
      for (const exchange of waiting) exchange.settle(error)
    }
  }

  #end(exchange: Exchange, answered: boolean): void {
    const connection = this.#pending.get(exchange)
    this.#waiting.delete(exchange)
    this.#pending.delete(exchange)
    if (answered && connection && !this.#closed) this.#keep(connection)
    else {
      connection?.close()
      this.#closeSurplus()
      if (!this.#closed) this.#startNext()
    }
  }

  #keep(connection: PooledConnection): void {
    this.#idle.push(connection)
    this.#startNext()
    if (this.#idle.length > MAX_IDLE) this.#idle.shift()?.close()
    this.#trimming ??= setTimeout(() => {
      this.#trimming = undefined
      for (const idle of this.#idle.splice(1)) idle.close()
      this.#closeSurplus()
    }, IDLE_MS).unref()
  }

  /** Close connections that are being opened beyond the number of waiting requests. */
  #closeSurplus(): void {
    for (const connection of this.#opening) {
      if (this.#opening.size <= this.#waiting.size) return
      this.#opening.delete(connection)
      connection.close()
    }
  }

  /** Return a free connection, and close those that were lost meanwhile. */
  #takeIdle(): PooledConnection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (!connection.lost) return connection
      connection.close()
    }
    return undefined
  }
}
