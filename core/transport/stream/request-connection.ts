import { setTimeout as delay } from 'node:timers/promises'
import { type Deferred, deferred } from '../../base/deferred.ts'
import { encodeNetwork } from '../../codec/index.ts'
import type { RequestSettings } from '../contract.ts'
import { lostConnection, refusedConnection, requestCancelled, uselessConnection } from '../errors.ts'
import { checkPeerName } from '../peer-name.ts'
import type { PooledConnection } from '../request-pool.ts'
import type { Link, Message, StreamProtocol } from './contract.ts'

const RECONNECT_MS = 100
const RECONNECT_MAX_MS = 5_000
const CONNECT_TIMEOUT_MS = 5_000

/** A connection for one request at a time. */
export class StreamRequestConnection implements PooledConnection {
  readonly #protocol: StreamProtocol
  readonly #settings: RequestSettings
  readonly #closing = new AbortController()
  #link: Link | undefined
  #answer: Deferred<Uint8Array> | undefined
  #requests = 0
  #head: Buffer = Buffer.alloc(0)
  lost = false
  awaitsHandshake = false

  constructor(protocol: StreamProtocol, settings: RequestSettings) {
    this.#protocol = protocol
    this.#settings = settings
  }

  async open(): Promise<void> {
    const { host, port } = this.#settings
    await checkPeerName(this.#settings)
    for (let wait = RECONNECT_MS; ; wait = Math.min(2 * wait, RECONNECT_MAX_MS)) {
      if (this.#closing.signal.aborted) throw requestCancelled(host, port)
      if (await this.#connect()) return
      await delay(wait, undefined, { signal: this.#closing.signal }).catch(() => undefined)
    }
  }

  async ask(frame: Uint8Array): Promise<Uint8Array> {
    const { host, port } = this.#settings
    if (this.lost) throw lostConnection(host, port)
    this.#answer = deferred()
    if (this.#protocol.hasHeads) this.#head = encodeNetwork({ mid: `${++this.#requests}` })
    this.#link?.send({ head: this.#head, body: frame })
    return this.#answer.promise
  }

  close(): void {
    const { host, port } = this.#settings
    this.#closing.abort()
    this.#answer?.reject(requestCancelled(host, port))
    this.#link?.destroy()
  }

  /** Try to connect. Resolves with false if that failed, and another attempt makes sense. */
  #connect(): Promise<boolean> {
    const { host, port, failFast } = this.#settings
    return new Promise((resolve, reject) => {
      let isOpen = false
      const timer = setTimeout(() => link.destroy(), CONNECT_TIMEOUT_MS).unref()
      const link = this.#protocol.connect(this.#settings, {
        onReached: () => {
          this.awaitsHandshake = true
        },
        onOpen: () => {
          isOpen = true
          this.awaitsHandshake = false
          clearTimeout(timer)
          resolve(true)
        },
        onMessage: (message) => this.#receive(message),
        onClose: (error) => {
          if (isOpen) return this.#lose(error)
          const wasReached = this.awaitsHandshake
          this.awaitsHandshake = false
          clearTimeout(timer)
          if (wasReached && error && !isReset(error)) reject(uselessConnection(host, port, error))
          else if (failFast) reject(refusedConnection(host, port))
          else resolve(false)
        },
      })
      this.#link = link
      if (this.#closing.signal.aborted) link.destroy()
    })
  }

  /** The answer may be one to an earlier request. */
  #receive({ head, body }: Message): void {
    if (this.#head.equals(head)) this.#answer?.resolve(body)
  }

  /** With TLS 1.3 a client learns only after its handshake that the server refuses its certificate. */
  #lose(error: Error | undefined): void {
    const { host, port } = this.#settings
    this.lost = true
    this.#answer?.reject(
      error && isRefusal(error) ? uselessConnection(host, port, error) : lostConnection(host, port),
    )
  }
}

const codeOf = (error: Error): string => String((error as NodeJS.ErrnoException).code)

/** Whether the peer refused something about TLS. */
const isRefusal = (error: Error): boolean => codeOf(error).startsWith('ERR_SSL') || codeOf(error) === 'EPROTO'

/** Whether the peer ended the connection, as one does that is ending or has too many. */
const isReset = (error: Error): boolean => ['ECONNRESET', 'EPIPE'].includes(codeOf(error))
