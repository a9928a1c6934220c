import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { backoff } from '../base/backoff.ts'
import { connectLocal } from './connection.ts'
import { decodeEvent, encodeEvent, tagOf } from './event.ts'
import { FrameReader } from './frames.ts'
import { Pusher } from './pusher.ts'
import { type SubscribeOptions, Subscription } from './subscription.ts'

export interface BusSettings {
  readonly pubPath: string
  readonly pullPath: string
  readonly maxEventSize?: number
  /** A fired event counts as fired when the publisher, which must be one of ours, has given it to its readers. */
  readonly confirmed?: boolean
}

/** Listens to an event bus and fires events on it. Connects again when the publisher restarts. */
export class EventBus {
  readonly #settings: BusSettings
  readonly #pusher: Pusher
  readonly #subscriptions = new Set<Subscription>()
  readonly #reconnectListeners: (() => void)[] = []
  readonly #closing = new AbortController()
  #socket: Socket | undefined

  private constructor(settings: BusSettings) {
    this.#settings = settings
    this.#pusher = new Pusher(settings.pullPath, settings.confirmed)
  }

  /**
   * Resolves when connected for listening; the connection for firing is made by the first `fire`.
   * @throws SaltError MASTER_UNREACHABLE if no daemon runs there, PERMISSIONS if this user may not listen.
   */
  static async connect(settings: BusSettings): Promise<EventBus> {
    const bus = new EventBus(settings)
    bus.#listen(await connectLocal(settings.pubPath))
    return bus
  }

  /**
   * Resolves when the event is on its way, or went out if `confirmed`.
   * @throws SaltError MASTER_UNREACHABLE, PERMISSIONS or ENCODE_FAILED
   */
  async fire(tag: string, data: object): Promise<void> {
    await this.#pusher.push(encodeEvent(tag, data, new Date(), this.#settings.maxEventSize))
  }

  /** Events whose tag begins with the text, or that the function picks, from the moment this returns. */
  subscribe(
    match: string | ((tag: string) => boolean),
    signal?: AbortSignal,
    options: SubscribeOptions = {},
  ): Subscription {
    const close = () => subscription.close()
    const subscription = new Subscription(match, options, () => {
      this.#subscriptions.delete(subscription)
      signal?.removeEventListener('abort', close)
    })
    this.#subscriptions.add(subscription)
    signal?.addEventListener('abort', close)
    if (signal?.aborted || this.#closing.signal.aborted) close()
    return subscription
  }

  /** Called after the connection was lost and made again; events of the time between were missed. */
  onReconnect(listener: () => void): void {
    this.#reconnectListeners.push(listener)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#socket?.destroy()
    this.#pusher.close()
    for (const subscription of this.#subscriptions) subscription.close()
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

  /** Decodes only what somebody wants. A body that is no event reaches nobody. */
  #deliver(body: Uint8Array): void {
    const tag = attempt(() => tagOf(body))
    if (tag === undefined) return
    const wanting = [...this.#subscriptions].filter((subscription) => subscription.matches(tag))
    const event = wanting.length > 0 ? attempt(() => decodeEvent(body)) : undefined
    if (event) for (const subscription of wanting) subscription.deliver(event, body.length)
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
    for (const subscription of this.#subscriptions) subscription.interrupted()
    for (const listener of this.#reconnectListeners) listener()
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
