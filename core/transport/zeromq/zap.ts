import { setTimeout } from 'node:timers/promises'
import type { Router } from 'zeromq'
import { openRouter } from './sockets.ts'

/**
 * Endpoint to which libzmq sends a request about each peer in its handshake (ZAP, ZeroMQ RFC 27). If nothing is bound
 * there, all peers are admitted.
 */
const ENDPOINT = 'inproc://zeromq.zap.01'
const VERSION = '1.0'
const STATUS_ACCEPTED = '200'
/**
 * An unknown version, which makes libzmq disconnect at once; the peer retries after its reconnection interval. The
 * regular statuses do not fit: 300 keeps the connection for ten seconds, and after 400 the peer never retries.
 */
const REFUSING_VERSION = 'none'
/** Interval of attempts to bind the endpoint. */
const REBIND_MS = 5

/** While it refuses, each peer in its handshake with a socket of this process that has a ZAP domain is disconnected. */
export class HandshakeGate {
  readonly #handler: ZapHandler
  #isRefusing = false

  constructor() {
    processHandler ??= new ZapHandler()
    this.#handler = processHandler
    processHandler.gates.add(this)
  }

  get isRefusing(): boolean {
    return this.#isRefusing
  }

  /** Resolves once peers are refused: at once, unless the endpoint is still being released. */
  async refuse(): Promise<void> {
    this.#isRefusing = true
    await this.#handler.listen()
  }

  accept(): void {
    this.#isRefusing = false
  }

  close(): void {
    this.#handler.gates.delete(this)
    if (this.#handler.gates.size > 0) return
    this.#handler.close()
    if (processHandler === this.#handler) processHandler = undefined
  }
}

/** The only ZAP handler of the process: libzmq sends it the requests for all sockets. */
let processHandler: ZapHandler | undefined

class ZapHandler {
  readonly gates = new Set<HandshakeGate>()
  /** Opened before it is needed, since a socket takes file descriptors. */
  readonly #router: Router = openRouter({ linger: 0 })
  #isListening = false

  constructor() {
    void this.#answer()
  }

  /**
   * Bind the endpoint, and keep it bound: a peer whose ZAP request stays unanswered would be kept until its handshake
   * times out. libzmq releases the endpoint of a closed socket in the background, so the last handler may still hold it.
   */
  async listen(): Promise<void> {
    while (!this.#isListening && !this.#router.closed) {
      try {
        this.#router.bindSync(ENDPOINT)
        this.#isListening = true
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
        await setTimeout(REBIND_MS)
      }
    }
  }

  close(): void {
    this.#router.close()
  }

  async #answer(): Promise<void> {
    for await (const [identity, empty, , request] of this.#router) {
      const isRefusing = [...this.gates].some((gate) => gate.isRefusing)
      const answer = isRefusing
        ? [REFUSING_VERSION, request, '', '']
        : [VERSION, request, STATUS_ACCEPTED, 'OK']
      try {
        await this.#router.send([identity, empty, ...answer, '', ''] as Buffer[])
      } catch {
        // The peer is gone, or this socket was closed since the request came.
      }
    }
  }
}
