import { createServer, type Server, type Socket } from 'node:net'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { component } from '../log/component.ts'
import { decodeEvent, type Event, encodeEvent, tagOf } from './event.ts'
import { EventLog } from './event-log.ts'
import { FrameReader, packFrame } from './frames.ts'
import { listenLocal } from './listen.ts'
import { EVENT_LOG, logSockets, SENDING_EVENT } from './log-lines.ts'
import { EventReader } from './reader.ts'

export interface PublisherSettings {
  /** Address to which readers connect: a socket path, or `tcp://127.0.0.1:port`. */
  readonly pubPath: string
  /** Address to which processes push events. */
  readonly pullPath: string
  /** Mode of the readers' socket; 0600 by default. The socket for pushing is always 0600. */
  readonly mode?: number
  /** Group id of the readers' socket; that of this process by default. */
  readonly group?: number
  /** Maximum size of an event's data in bytes. `publish` trims larger ones. */
  readonly maxEventSize: number
  /** Called with the tag and the encoded body of every event. */
  readonly onBody?: (tag: string, body: Uint8Array) => void
  /** Resolves when what `onBody` has done with the events so far is complete: only then they are confirmed to who pushed them. */
  readonly kept?: () => Promise<void>
  /** Called with every event, decoded. */
  readonly onEvent?: (event: Event) => void
  /** Bytes that a reader may be behind before it is disconnected. */
  readonly maxBacklog?: number
  /** Set if metrics are enabled. */
  readonly watch?: EventWatch | undefined
  /** The name of the bus in logs. */
  readonly name?: string
  readonly log?: Log
}

export interface EventWatch {
  /** Called when an event is queued for the readers. */
  fired(body: Uint8Array): void
  /** Called when all queued events were written to the readers that keep up. */
  delivered(): void
  /** Called when a reader was disconnected because it was too far behind. */
  cutOff(): void
}

const MAX_BACKLOG = 64 * 1024 * 1024

/**
 * The server of an event bus. It sends every event that is pushed to it, or published by this process, to every connected reader
 * (wire protocol §11). A reader that is too far behind is disconnected; it never delays the others.
 */
export class EventPublisher {
  readonly #settings: PublisherSettings
  readonly #log: EventLog
  /** Log for debug details. */
  readonly #details: Log | undefined
  readonly #readers = new Set<EventReader>()
  readonly #pushers = new Set<Socket>()
  /** Number of events since the last flush that each pusher wants confirmed. */
  readonly #unconfirmed = new Map<Socket, number>()
  readonly #pub: Server
  readonly #pull: Server
  #flushing: NodeJS.Immediate | undefined
  #addresses = { pubPath: '', pullPath: '' }

  private constructor(settings: PublisherSettings) {
    this.#settings = settings
    this.#details = settings.log && component(settings.log, EVENT_LOG)
    this.#log = new EventLog(settings.maxBacklog ?? MAX_BACKLOG)
    this.#pub = createServer((socket) => this.#addReader(socket))
    this.#pull = createServer((socket) => this.#addPusher(socket))
  }

  /** Open a publisher. @throws SaltError ADDRESS_IN_USE if another process listens there, PERMISSIONS or CONFIG_INVALID. */
  static async open(settings: PublisherSettings): Promise<EventPublisher> {
    const publisher = new EventPublisher(settings)
    logSockets(settings, publisher.#details)
    const { mode = 0o600, group } = settings
    const pubPath = await listenLocal(publisher.#pub, settings.pubPath, mode, group)
    try {
      publisher.#addresses = {
        pubPath,
        pullPath: await listenLocal(publisher.#pull, settings.pullPath, 0o600),
      }
    } catch (error) {
      publisher.#pub.close()
      throw error
    }
    publisher.#details?.info('Starting pull socket on {address}', { address: publisher.#addresses.pullPath })
    return publisher
  }

  /** Addresses to which an EventBus connects. */
  get addresses(): { readonly pubPath: string; readonly pullPath: string } {
    return this.#addresses
  }

  /** Number of connected readers. */
  get readers(): number {
    return this.#readers.size
  }

  /** Number of events that the slowest reader has not received yet. */
  get backlog(): number {
    return this.#log.end - this.#needed()
  }

  publish(tag: string, data: object): void {
    this.#details?.debug(SENDING_EVENT, { tag, data })
    this.#add(encodeEvent(tag, data, new Date(), this.#settings.maxEventSize))
  }

  /** Close the bus. Readers have a short time to receive queued events. */
  async close(): Promise<void> {
    this.#flush()
    for (const pusher of this.#pushers) pusher.destroy()
    const closed = [this.#pub, this.#pull].map((server) => new Promise((resolve) => server.close(resolve)))
    await Promise.all([...this.#readers].map((reader) => reader.finish()))
    await Promise.all(closed)
  }

  #add(body: Uint8Array): void {
    this.#log.push(packFrame(body))
    // Flush after this turn of the event loop. By then, readers that connected before the event was pushed have been
    // accepted, so they get it; and events that arrive together are written together.
    this.#flushing ??= setImmediate(() => this.#flush())
    const { onEvent, onBody, watch } = this.#settings
    watch?.fired(body)
    onBody?.(tagOf(body), body)
    if (onEvent) queueMicrotask(() => this.#callOnEvent(onEvent, body))
  }

  #callOnEvent(onEvent: (event: Event) => void, body: Uint8Array): void {
    try {
      onEvent(decodeEvent(body))
    } catch (error) {
      this.#settings.log?.error(`An event could not be handled: ${messageOf(error)}`)
    }
  }

  #flush(): void {
    clearImmediate(this.#flushing)
    this.#flushing = undefined
    for (const reader of this.#readers) reader.pump()
    this.#confirm()
    this.#log.dropBefore(this.#needed())
    this.#settings.watch?.delivered()
  }

  /** Confirm the events that pushers want confirmed, once they are kept. */
  #confirm(): void {
    if (this.#unconfirmed.size === 0) return
    const counts = [...this.#unconfirmed]
    this.#unconfirmed.clear()
    const confirm = () => {
      for (const [pusher, count] of counts) if (pusher.writable) pusher.write(Buffer.alloc(count))
    }
    const { kept } = this.#settings
    if (kept) void kept().then(confirm)
    else confirm()
  }

  /** Return the position of the first frame that a reader has not received yet. */
  #needed(): number {
    let needed = this.#log.end
    for (const { position } of this.#readers) needed = Math.min(needed, position)
    return needed
  }

  #addReader(socket: Socket): void {
    const reader = new EventReader(socket, this.#log, (reason) => {
      this.#readers.delete(reader)
      if (!reason) return
      this.#settings.watch?.cutOff()
      this.#settings.log?.warn(`Disconnected a reader of the event bus: ${reason}.`)
    })
    this.#readers.add(reader)
  }

  #addPusher(socket: Socket): void {
    const frames = new FrameReader()
    this.#pushers.add(socket)
    socket.on('close', () => this.#pushers.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      try {
        for (const { body, confirm } of frames.push(chunk)) {
          this.#accept(body)
          if (confirm) this.#unconfirmed.set(socket, (this.#unconfirmed.get(socket) ?? 0) + 1)
        }
      } catch (error) {
        this.#settings.log?.warn(`Closed a connection that pushes events: ${messageOf(error)}`)
        socket.destroy()
      }
    })
  }

  /** Queue a pushed body unchanged. Throws if it has no tag. */
  #accept(body: Uint8Array): void {
    tagOf(body)
    this.#add(body)
  }
}
