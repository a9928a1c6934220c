import { setImmediate as turn } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { MasterEvents } from '../../client/local/master-link.ts'
import type { Event, Subscription } from '../../events/index.ts'
import { type FrameSink, FrameStream, type StreamReader, type StreamSettings } from './frame-stream.ts'
import { commentFrame, EventFrame, type Frame } from './frames.ts'
import { JobOwners } from './job-owners.ts'
import { Summaries } from './summaries.ts'

export interface HubSettings extends StreamSettings {
  /** `own`: readers get the events of their own jobs and runs, and those that belong to no job. */
  readonly events: 'all' | 'own'
}

/** The events that a reader gets. */
export interface EventFilter {
  /** The reader, in the form in which jobs name their owner. */
  readonly owner: string
  readonly tag?: (tag: string) => boolean
}

/** Bytes of events to process before sockets get their turn of the event loop. */
const MAX_BYTES_PER_TURN = 256 * 1024
/** Events within this time are written together: each write to each reader has a fixed cost. */
const FLUSH_INTERVAL_MS = 20
/** How often readers of formatted events get a job that changes: each frame holds the whole job. */
const SUMMARY_INTERVAL_MS = 200
/** How often stalled readers are dropped. */
const STALL_CHECK_INTERVAL_MS = 5000

/**
 * Passes the events of the master on to readers over HTTP. One subscription serves all of them, while there are any.
 */
export class EventHub {
  readonly #bus: MasterEvents
  readonly #settings: HubSettings
  readonly #log: Log
  readonly #events: FrameStream<Frame>
  readonly #formatted: FrameStream<Frame>
  readonly #summaries: Summaries
  readonly #owners = new JobOwners()
  readonly #firstEvents: Subscription | undefined
  readonly #stallChecks: NodeJS.Timeout
  #subscription: Subscription | undefined
  #flushing: NodeJS.Timeout | undefined
  #summing: NodeJS.Timeout | undefined
  /** Bytes of events since the last flush. */
  #unflushed = 0
  #flushedAt = 0
  #delivered = 0

  constructor(bus: MasterEvents, settings: HubSettings, log: Log) {
    this.#bus = bus
    this.#settings = settings
    this.#log = log
    this.#events = new FrameStream(settings)
    this.#formatted = new FrameStream(settings)
    this.#summaries = new Summaries({ grains: settings.events === 'all' })
    this.#stallChecks = setInterval(() => this.#dropStalled(), STALL_CHECK_INTERVAL_MS).unref()
    this.#firstEvents = settings.events === 'own' ? bus.subscribe(JobOwners.namesOwner) : undefined
    void this.#noteOwners()
  }

  get readers(): number {
    return this.#events.readers + this.#formatted.readers
  }

  get stats(): { readonly readers: number; readonly dropped: number; readonly events: number } {
    const dropped = this.#events.dropped + this.#formatted.dropped
    return { readers: this.readers, dropped, events: this.#delivered }
  }

  /** Send events as they come, from now on. */
  read(sink: FrameSink<Frame>, filter: EventFilter): StreamReader {
    return this.#add(this.#events, sink, this.#predicate(filter))
  }

  /** Send summaries of the events: jobs and minions as they are now. */
  readSummaries(sink: FrameSink<Frame>, filter: EventFilter): StreamReader {
    return this.#add(this.#formatted, sink, this.#predicate(filter))
  }

  close(): void {
    clearInterval(this.#stallChecks)
    clearTimeout(this.#flushing)
    clearTimeout(this.#summing)
    this.#firstEvents?.close()
    this.#subscription?.close()
  }

  #add(stream: FrameStream<Frame>, sink: FrameSink<Frame>, filter?: (frame: Frame) => boolean): StreamReader {
    const reader = stream.add(sink, filter)
    this.#listen()
    return {
      close: () => {
        reader.close()
        if (this.readers === 0) this.#unsubscribe()
      },
    }
  }

  #predicate({ owner, tag }: EventFilter): ((frame: Frame) => boolean) | undefined {
    const own = this.#settings.events === 'own'
    if (!own && !tag) return undefined
    return (frame) =>
      frame.tag === undefined || ((!tag || tag(frame.tag)) && (!own || this.#isFor(owner, frame)))
  }

  /** Whether a frame is for a reader: events of a job or run are for its owner alone. A refused job may have no id. */
  #isFor(reader: string, { jid, isAboutJob, owner }: Frame): boolean {
    if (jid !== undefined) return this.#owners.isOf(reader, jid)
    return !isAboutJob || owner === reader
  }

  #listen(): void {
    if (this.#subscription) return
    const onGap = (missed: number | undefined) => this.#reportGap(missed)
    const subscription = this.#bus.subscribe('', undefined, { onGap })
    this.#subscription = subscription
    void this.#pump(subscription).finally(() => {
      if (this.#subscription === subscription) this.#subscription = undefined
    })
  }

  #unsubscribe(): void {
    this.#subscription?.close()
    this.#subscription = undefined
    this.#summaries.clear()
  }

  async #pump(subscription: Subscription): Promise<void> {
    for await (const event of subscription) {
      this.#unflushed += this.#handle(event)
      if (this.#unflushed < MAX_BYTES_PER_TURN) {
        this.#flushSoon()
      } else {
        this.#flush()
        await turn()
      }
    }
  }

  /** Schedule a flush: at once if the last one is long ago. */
  #flushSoon(): void {
    const pause = this.#flushedAt + FLUSH_INTERVAL_MS - performance.now()
    this.#flushing ??= setTimeout(() => this.#flush(), Math.max(0, pause))
  }

  #flush(): void {
    clearTimeout(this.#flushing)
    this.#flushing = undefined
    this.#unflushed = 0
    this.#events.flush()
    this.#flushedAt = performance.now()
  }

  #sumUpSoon(): void {
    this.#summing ??= setTimeout(() => this.#sumUp(), SUMMARY_INTERVAL_MS)
  }

  #sumUp(): void {
    this.#summing = undefined
    try {
      for (const frame of this.#summaries.changed()) this.#formatted.push(frame)
    } catch (error) {
      this.#log.error(`A job is too large for readers of formatted events: ${messageOf(error)}`)
      this.#sumUpSoon() // the other jobs
    }
    this.#formatted.flush()
  }

  #handle(event: Event): number {
    this.#delivered++
    if (this.#settings.events === 'own' && JobOwners.namesOwner(event.tag)) this.#owners.note(event)
    try {
      if (this.#formatted.readers > 0) {
        this.#summaries.note(event)
        this.#sumUpSoon()
      }
      if (this.#events.readers === 0) return 0
      const frame = new EventFrame(event)
      this.#events.push(frame)
      return frame.length
    } catch (error) {
      this.#log.error(`The event ${event.tag} cannot be shown to readers of the API: ${messageOf(error)}`)
      return 0
    }
  }

  /** Note the owners of jobs from the start, also while nobody reads events. */
  async #noteOwners(): Promise<void> {
    for await (const event of this.#firstEvents ?? []) this.#owners.note(event)
  }

  #reportGap(missed: number | undefined): void {
    const what = missed === undefined ? 'Events' : `${missed} events`
    this.#log.warn(`${what} were not delivered to API clients: ${whyMissed(missed)}.`)
    this.#events.push(commentFrame(`${what} were missed by this server: ${whyMissed(missed)}`))
    this.#events.flush()
  }

  #dropStalled(): void {
    this.#events.dropStalled()
    this.#formatted.dropStalled()
  }
}

const whyMissed = (missed: number | undefined): string =>
  missed === undefined
    ? 'the connection to the events of the master was lost for a while'
    : 'events came faster than this server can deliver them'
