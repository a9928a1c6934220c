import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { backoff } from '../base/backoff.ts'
import { SaltError } from '../base/errors.ts'
import { component } from '../log/component.ts'
import { connectLocal } from './connection.ts'
import { encodeEvent, readEvent } from './event.ts'
import { FrameReader } from './frames.ts'
import { EVENT_LOG, logSockets, SENDING } from './log-lines.ts'
import { Pusher } from './pusher.ts'
import type { Match, SubscribeOptions, Subscription } from './subscription.ts'
import { Subscriptions } from './subscriptions.ts'

export interface BusSettings {
  readonly pubPath: string
  readonly pullPath: string
  readonly maxEventSize?: number
  /** A fired event counts as fired when the publisher, which must be one of ours, has given it to its readers. */
  readonly confirmed?: boolean
  /** The name of the bus in logs. */
  readonly name?: string
  readonly log?: Log
}

/** Listens to an event bus and fires events on it. Connects again when the publisher restarts. */
export class EventBus {
  readonly #settings: BusSettings
  readonly #log: Log | undefined
  readonly #pusher: Pusher
  readonly #subscriptions = new Subscriptions()
  readonly #reconnectListeners: (() => void)[] = []
  readonly #closing = new AbortController()
  #socket: Socket | undefined

  private constructor(settings: BusSettings) {
    this.#settings = settings
    this.#log = settings.log && component(settings.log, EVENT_LOG)
    this.#pusher = new Pusher(settings.pullPath, settings.confirmed)
  }

  /**
   * Resolves when connected for listening. The connection for firing is made by the first `fire`; where that is to be
   * confirmed, who connects fires all the time, and it is there from the start.
   * @throws SaltError MASTER_UNREACHABLE if no daemon runs there, PERMISSIONS if this user may not listen.
   */
  static async connect(settings: BusSettings): Promise<EventBus> {
    const bus = new EventBus(settings)
    logSockets(settings, bus.#log)
    bus.#listen(await connectLocal(settings.pubPath))
    if (settings.confirmed) await bus.#pusher.open().catch(() => undefined) // each `fire` tries again
    return bus
  }

  /**
   * Resolves when the event is on its way, or went out if `confirmed`.
   * @throws SaltError MASTER_UNREACHABLE, PERMISSIONS or ENCODE_FAILED
   */
  async fire(tag: string, data: object): Promise<void> {
    this.#log?.debug(SENDING, { tag, data })
    await this.#pusher.push(encodeEvent(tag, data, new Date(), this.#settings.maxEventSize))
  }

  /** Events whose tag begins with the text or one of several, or that the function picks, from the moment this returns. */
  subscribe(match: Match, signal?: AbortSignal, options?: SubscribeOptions): Subscription {
    return this.#subscriptions.add(match, signal, options)
  }

  /** Subscriptions that are open. */
  get listening(): number {
    return this.#subscriptions.size
  }

  /** Called after the connection was lost and made again; events of the time between were missed. */
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
        socket.destroy() // and start anew: the stream cannot be cut into events any more
      }
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => void this.#reconnect())
  }

  /** A body that is no event reaches nobody. */
  #deliver(body: Uint8Array): void {
    try {
      this.#subscriptions.deliver(readEvent(body), body.length)
    } catch (error) {
      if (!SaltError.is(error)) throw error
    }
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing
    const delays = backoff({ minMs: 20, maxMs: 200 }) // of no cost on the same machine, and events pass meanwhile
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
