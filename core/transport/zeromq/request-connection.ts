import { isIP } from 'node:net'
import type { Request } from 'zeromq'
import { deferred } from '../../base/deferred.ts'
import type { RequestSettings } from '../contract.ts'
import { lostConnection, refusedConnection, requestCancelled } from '../errors.ts'
import { checkPeerName } from '../peer-name.ts'
import type { PooledConnection } from '../request-pool.ts'
import { connect, watchConnection } from './connect.ts'
import { endpointOf, peerOptions } from './settings.ts'
import { openRequest } from './sockets.ts'

const RECONNECT_MS = 100
const RECONNECT_MAX_MS = 5_000
const CONNECT_TIMEOUT_MS = 5_000
/** Time after the loss of the connection in which an answer that arrived just before can be read. */
const LAST_ANSWER_MS = 100

/** A REQ socket for one request at a time. It is used once it is connected, until the connection is lost. */
export class RequestConnection implements PooledConnection {
  readonly #settings: RequestSettings
  readonly #up = deferred<void>()
  #socket: Request | undefined
  #wasUp = false
  #closed = false
  lost = false
  awaitsHandshake = false

  constructor(settings: RequestSettings) {
    this.#settings = settings
    this.#up.promise.catch(() => undefined) // `close` may reject it before `open` awaits it
  }

  async open(): Promise<void> {
    const { host, port } = this.#settings
    if (isIP(host) !== 4) await checkPeerName(this.#settings)
    if (this.#closed) throw requestCancelled(host, port)
    this.#socket = this.#connect()
    await this.#up.promise
  }

  async ask(frame: Uint8Array): Promise<Uint8Array> {
    const { host, port } = this.#settings
    try {
      await this.#socket?.send(frame)
      const [reply] = (await this.#socket?.receive()) ?? []
      return reply as Buffer
    } catch (error) {
      throw this.lost ? lostConnection(host, port) : error
    }
  }

  close(): void {
    const { host, port } = this.#settings
    this.#closed = true
    this.#socket?.close()
    this.#up.reject(requestCancelled(host, port))
  }

  #connect(): Request {
    const socket = openRequest({
      ...peerOptions(this.#settings),
      linger: 0,
      reconnectInterval: RECONNECT_MS,
      reconnectMaxInterval: RECONNECT_MAX_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
    })
    void watchConnection(socket, {
      reached: () => {
        this.awaitsHandshake = true
      },
      up: () => {
        this.#wasUp = true
        this.#up.resolve()
      },
      down: () => {
        if (!this.#wasUp) return
        this.lost = true
        setTimeout(() => socket.close(), LAST_ANSWER_MS).unref()
      },
      refused: () => {
        this.awaitsHandshake = false
        const { host, port, failFast } = this.#settings
        if (failFast && !this.#wasUp) this.#up.reject(refusedConnection(host, port))
      },
      abandoned: () => this.#replace(socket),
    })
    connect(socket, endpointOf(this.#settings))
    return socket
  }

  #replace(socket: Request): void {
    if (this.#wasUp || this.#closed || socket !== this.#socket) return
    this.#socket = this.#connect()
    socket.close()
  }
}
