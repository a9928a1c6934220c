import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { backoff } from '../base/backoff.ts'
import { SaltError } from '../base/errors.ts'
import { component } from '../log/component.ts'
import { connectLocal } from './connection.ts'
import { encodeEvent, readEvent } from './event.ts'
import { FrameReader } from './frames.ts'
import { EVENT_LOG, logSockets, SENDING_EVENT } from './log-lines.ts'
import { EventPusher } from './pusher.ts'
import type { Match, SubscribeOptions, Subscription } from './subscription.ts'
import { Subscriptions } from './subscriptions.ts'

export interface BusSettings {
  readonly pubPath: string
  readonly pullPath: string
  readonly maxEventSize?: number
  /** `fire` waits until the publisher, which must be of salt-ts, has sent the event to its readers. */
  readonly confirmed?: boolean
  /** The name of the bus in logs. */
  readonly name?: string
  readonly log?: Log
}

/** Client of an event bus: listens and fires events. It reconnects when the publisher restarts. */
export class EventBus {
  readonly #settings: BusSettings
  readonly #log: Log | undefined
  readonly #pusher: EventPusher
  readonly #subscriptions = new Subscriptions()
  readonly #reconnectListeners: (() => void)[] = []
  readonly #closing = new AbortController()
  #socket: Socket | undefined

  private constructor(settings: BusSettings) {
    this.#settings = settings
    this.#log = settings.log && component(settings.log, EVENT_LOG)
    this.#pusher = new EventPusher(settings.pullPath, settings.confirmed)
  }

  /**
   * Connect for listening. The connection for firing is made at the first `fire`; with `confirmed` it is made at once, since such
   * clients fire all the time.
   * @throws SaltError MASTER_UNREACHABLE if no daemon listens on the socket, PERMISSIONS if this user may not connect.
   */
  static async connect(settings: BusSettings): Promise<EventBus> {
    const bus = new EventBus(settings)
    logSockets(settings, bus.#log)
    bus.#listen(await connectLocal(settings.pubPath))
    if (settings.confirmed) await bus.#pusher.open().catch(() => undefined) // each `fire` connects if necessary
    return bus
  }

  /**
   * Fire an event. Resolves when it is written to the socket; with `confirmed`, when the publisher has sent it to its readers, and stored it if it goes to `event_return`.
   * @throws SaltError MASTER_UNREACHABLE, PERMISSIONS or ENCODE_FAILED
   */
  async fire(tag: string, data: object): Promise<void> {
    this.#log?.debug(SENDING_EVENT, { tag, data })
    await this.#pusher.push(encodeEvent(tag, data, new Date(), this.#settings.maxEventSize))
  }

  /** Subscribe to events whose tag has the prefix or one of the prefixes, or for which the function returns true. */
  subscribe(match: Match, signal?: AbortSignal, options?: SubscribeOptions): Subscription {
    return this.#subscriptions.add(match, signal, options)
  }

  /** Number of open subscriptions. */
  get listening(): number {
    return this.#subscriptions.size
  }

  /** Call `listener` after the connection was lost and restored. Events in between were missed. */
  onReconnect(listener: () => void): void {
    this.#reconnectListeners.push(listener)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#socket?.destroy()
    this.#pusher.close()
    this.#subscriptions.close()
  }

  #listen(socket: Socket): void {
    this.#socket = socket
    const frames = new FrameReader()
    socket.on('data', (chunk) => {
      try {
        for (const { body } of frames.push(chunk)) this.#deliver(body)
      } catch {
        socket.destroy() // reconnects, since frames can no longer be found in the stream
      }
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => void this.#reconnect())
  }

  /** Deliver an event. A malformed body is dropped. */
  #deliver(body: Uint8Array): void {
    try {
      this.#subscriptions.deliver(readEvent(body), body.length)
    } catch (error) {
      if (!SaltError.is(error)) throw error
    }
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing
    const delays = backoff({ minMs: 20, maxMs: 200 }) // short: local connections are cheap, and events are missed meanwhile
    while (!signal.aborted) {
      const socket = await connectLocal(this.#settings.pubPath).catch(() => undefined)
      if (socket && !signal.aborted) return this.#resume(socket)
      socket?.destroy()
      await setTimeout(delays.next(), undefined, { signal }).catch(() => undefined)
    }
  }

  #resume(socket: Socket): void {
    this.#listen(socket)
    this.#subscriptions.interrupted()
    for (const listener of this.#reconnectListeners) listener()
  }
}
