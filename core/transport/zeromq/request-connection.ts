import type { Request } from 'zeromq'
import type { RequestSettings } from '../contract.ts'
import { lostConnection, refusedConnection } from '../errors.ts'
import { connect, watchConnection } from './connect.ts'
import { endpointOf, peerOptions } from './settings.ts'
import { openRequest } from './sockets.ts'

const RECONNECT_MS = 100
const RECONNECT_MAX_MS = 5_000
const CONNECT_TIMEOUT_MS = 5_000
/** For the answer that came just before the connection was lost. Milliseconds. */
const LAST_ANSWER_MS = 100

/** A REQ socket for one request at a time. */
export class RequestConnection {
  readonly #settings: RequestSettings
  #socket: Request
  #wasUp = false
  #refused = false
  /** The connection was lost: a request may have been, too. */
  lost = false

  constructor(settings: RequestSettings) {
    this.#settings = settings
    this.#socket = this.#open()
  }

  /** Rejects if the connection is closed meanwhile, or lost: nobody will answer then; and if it was refused, to who is impatient. */
  async ask(frame: Uint8Array): Promise<Uint8Array> {
    while (true) {
      const socket = this.#socket
      try {
        await socket.send(frame)
        const [reply] = await socket.receive()
        return reply as Buffer
      } catch (error) {
        const { host, port } = this.#settings
        if (this.#refused) throw refusedConnection(host, port)
        if (this.lost) throw lostConnection(host, port)
        if (socket === this.#socket) throw error
      }
    }
  }

  close(): void {
    this.#socket.close()
  }

  #open(): Request {
    const socket = openRequest({
      ...peerOptions(this.#settings),
      linger: 0,
      reconnectInterval: RECONNECT_MS,
      reconnectMaxInterval: RECONNECT_MAX_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
    })
    void watchConnection(socket, {
      up: () => {
        this.#wasUp = true
      },
      down: () => {
        if (!this.#wasUp) return
        this.lost = true
        setTimeout(() => socket.close(), LAST_ANSWER_MS).unref()
      },
      refused: () => {
        if (this.#wasUp || !this.#settings.impatient) return
        this.#refused = true
        socket.close()
      },
      abandoned: () => this.#replace(socket),
    })
    connect(socket, endpointOf(this.#settings))
    return socket
  }

  /** No server has seen the request yet, so it is sent again on a new socket; one that was seen is never repeated. */
  #replace(socket: Request): void {
    if (this.#wasUp || socket.closed || socket !== this.#socket) return
    this.#socket = this.#open()
    socket.close()
  }
}
