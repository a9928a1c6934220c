import { createServer, type Server, type Socket } from 'node:net'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { component } from '../log/component.ts'
import { decodeEvent, type Event, encodeEvent, tagOf } from './event.ts'
import { EventLog } from './event-log.ts'
import { FrameReader, packFrame } from './frames.ts'
import { listenLocal } from './listen.ts'
import { EVENT_LOG, logSockets, SENDING } from './log-lines.ts'
import { Reader } from './reader.ts'

export interface PublisherSettings {
  /** Where readers connect, and where processes push events in: a socket path, or `tcp://127.0.0.1:port`. */
  readonly pubPath: string
  readonly pullPath: string
  /** Of the socket for readers; 0600 by default. That for pushing is always 0600. */
  readonly mode?: number
  /** The group of that socket, by number; that of this process by default. */
  readonly group?: number
  /** Of an event's data, bytes; larger ones of `publish` are trimmed. */
  readonly maxEventSize: number
  /** Is given every event as it goes out, and its tag. */
  readonly onBody?: (tag: string, body: Uint8Array) => void
  /** Is given every event. */
  readonly onEvent?: (event: Event) => void
  /** How far a reader may be behind before it is cut off, bytes. */
  readonly maxBacklog?: number
  /** Counts what happens, where that is measured. */
  readonly watch?: EventWatch | undefined
  /** The name of the bus in logs. */
  readonly name?: string
  readonly log?: Log
}

export interface EventWatch {
  /** An event is to go to the readers. */
  fired(body: Uint8Array): void
  /** Those who keep up have been written all there is. */
  delivered(): void
  /** A reader was too far behind. */
  cutOff(): void
}

const MAX_BACKLOG = 64 * 1024 * 1024

/**
 * The server of an event bus: gives every event that is pushed in, or published here, to every connected reader
 * (wire protocol §11). A reader that falls too far behind is cut off; it never holds up others.
 */
export class EventPublisher {
  readonly #settings: PublisherSettings
  readonly #log: EventLog
  /** Writes details for debugging. */
  readonly #details: Log | undefined
  readonly #readers = new Set<Reader>()
  readonly #pushers = new Set<Socket>()
  /** Events since the last flush that their pushers want to hear of. */
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

  /** @throws SaltError ADDRESS_IN_USE if somebody listens there already, PERMISSIONS or CONFIG_INVALID. */
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

  /** Where an EventBus connects to. */
  get addresses(): { readonly pubPath: string; readonly pullPath: string } {
    return this.#addresses
  }

  /** Readers connected now. */
  get readers(): number {
    return this.#readers.size
  }

  /** Events the slowest of them has still to get. */
  get backlog(): number {
    return this.#log.end - this.#needed()
  }

  publish(tag: string, data: object): void {
    this.#details?.debug(SENDING, { tag, data })
    this.#add(encodeEvent(tag, data, new Date(), this.#settings.maxEventSize))
  }

  /** Gives the readers a moment to take what is there. */
  async close(): Promise<void> {
    this.#flush()
    for (const pusher of this.#pushers) pusher.destroy()
    const closed = [this.#pub, this.#pull].map((server) => new Promise((resolve) => server.close(resolve)))
    await Promise.all([...this.#readers].map((reader) => reader.finish()))
    await Promise.all(closed)
  }

  #add(body: Uint8Array): void {
    this.#log.push(packFrame(body))
    // Written when this turn of the event loop is over: readers that connected before an event was pushed get it,
    // because their connections have been taken by then; and events that come together go out together.
    this.#flushing ??= setImmediate(() => this.#flush())
    const { onEvent, onBody, watch } = this.#settings
    watch?.fired(body)
    onBody?.(tagOf(body), body)
    if (onEvent) queueMicrotask(() => this.#tell(onEvent, body))
  }

  #tell(onEvent: (event: Event) => void, body: Uint8Array): void {
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
    for (const [pusher, count] of this.#unconfirmed) if (pusher.writable) pusher.write(Buffer.alloc(count))
    this.#unconfirmed.clear()
    this.#log.dropBefore(this.#needed())
    this.#settings.watch?.delivered()
  }

  /** Position of the first frame that some reader has still to get. */
  #needed(): number {
    let needed = this.#log.end
    for (const { position } of this.#readers) needed = Math.min(needed, position)
    return needed
  }

  #addReader(socket: Socket): void {
    const reader = new Reader(socket, this.#log, (reason) => {
      this.#readers.delete(reader)
      if (!reason) return
      this.#settings.watch?.cutOff()
      this.#settings.log?.warn(`Cut off a reader of the event bus: ${reason}.`)
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

  /** Pushed bodies go out unchanged; what is no event goes nowhere. */
  #accept(body: Uint8Array): void {
    tagOf(body)
    this.#add(body)
  }
}
