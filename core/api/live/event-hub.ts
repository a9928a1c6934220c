import { setImmediate as turn } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { MasterEvents } from '../../client/master-link.ts'
import type { Event, Subscription } from '../../events/index.ts'
import { FrameStream, type Sink, type StreamReader, type StreamSettings } from './frame-stream.ts'
import { EventFrame, type Frame, remark } from './frames.ts'
import { JobOwners } from './job-owners.ts'
import { Summaries } from './summaries.ts'

export interface HubSettings extends StreamSettings {
  /** `own`: readers get the events of jobs and runs of others only if they are nobody's. */
  readonly events: 'all' | 'own'
}

/** What a reader is to get. */
export interface Wish {
  /** Who reads, as jobs name their owner. */
  readonly owner: string
  readonly tag?: (tag: string) => boolean
}

/** Events taken up in one turn, bytes. More wait until sockets have had their turn. */
const TURN = 256 * 1024
/** Events that come so close together are written together: a write to each reader costs more than what is in it. Milliseconds. */
const TOGETHER_MS = 20
/** So often readers of formatted events get a job that changes: each time all of it. Milliseconds. */
const SUMMARY_MS = 200
/** How often readers are looked after. Milliseconds. */
const ROUND_MS = 5000

/** The events of the master, subscribed to once for all who read them here, and only while somebody does. */
export class EventHub {
  readonly #bus: MasterEvents
  readonly #settings: HubSettings
  readonly #log: Log
  readonly #events: FrameStream<Frame>
  readonly #formatted: FrameStream<Frame>
  readonly #summaries: Summaries
  readonly #owners = new JobOwners()
  readonly #beginnings: Subscription | undefined
  readonly #round: NodeJS.Timeout
  #subscription: Subscription | undefined
  #flushing: NodeJS.Timeout | undefined
  #summing: NodeJS.Timeout | undefined
  /** Bytes taken up since then. */
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
    this.#round = setInterval(() => this.#lookAfter(), ROUND_MS).unref()
    this.#beginnings = settings.events === 'own' ? bus.subscribe(JobOwners.isTold) : undefined
    void this.#noteOwners()
  }

  get readers(): number {
    return this.#events.readers + this.#formatted.readers
  }

  get figures(): { readonly readers: number; readonly dropped: number; readonly events: number } {
    const dropped = this.#events.dropped + this.#formatted.dropped
    return { readers: this.readers, dropped, events: this.#delivered }
  }

  /** Events as they come, from now on. */
  read(sink: Sink<Frame>, wish: Wish): StreamReader {
    return this.#add(this.#events, sink, this.#filter(wish))
  }

  /** What comes of them: jobs and minions as they are now. */
  readSummaries(sink: Sink<Frame>, wish: Wish): StreamReader {
    return this.#add(this.#formatted, sink, this.#filter(wish))
  }

  close(): void {
    clearInterval(this.#round)
    clearTimeout(this.#flushing)
    clearTimeout(this.#summing)
    this.#beginnings?.close()
    this.#subscription?.close()
  }

  #add(stream: FrameStream<Frame>, sink: Sink<Frame>, wants?: (frame: Frame) => boolean): StreamReader {
    const reader = stream.add(sink, wants)
    this.#listen()
    return {
      close: () => {
        reader.close()
        if (this.readers === 0) this.#rest()
      },
    }
  }

  #filter({ owner, tag }: Wish): ((frame: Frame) => boolean) | undefined {
    const own = this.#settings.events === 'own'
    if (!own && !tag) return undefined
    return (frame) =>
      frame.tag === undefined || ((!tag || tag(frame.tag)) && (!own || this.#isFor(owner, frame)))
  }

  /** Events of a job or run are for its owner alone. A refused job may have no id. */
  #isFor(reader: string, { jid, ofJob, owner }: Frame): boolean {
    if (jid !== undefined) return this.#owners.isOf(reader, jid)
    return !ofJob || owner === reader
  }

  #listen(): void {
    if (this.#subscription) return
    const onGap = (missed: number | undefined) => this.#tellGap(missed)
    const subscription = this.#bus.subscribe('', undefined, { onGap })
    this.#subscription = subscription
    void this.#give(subscription).finally(() => {
      if (this.#subscription === subscription) this.#subscription = undefined
    })
  }

  /** Nobody reads any more. */
  #rest(): void {
    this.#subscription?.close()
    this.#subscription = undefined
    this.#summaries.clear()
  }

  async #give(subscription: Subscription): Promise<void> {
    for await (const event of subscription) {
      this.#unflushed += this.#take(event)
      if (this.#unflushed < TURN) {
        this.#flushSoon()
      } else {
        this.#flush()
        await turn()
      }
    }
  }

  /** At once after a while of silence. */
  #flushSoon(): void {
    const pause = this.#flushedAt + TOGETHER_MS - performance.now()
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
    this.#summing ??= setTimeout(() => this.#sumUp(), SUMMARY_MS)
  }

  #sumUp(): void {
    this.#summing = undefined
    try {
      for (const frame of this.#summaries.changed()) this.#formatted.push(frame)
    } catch (error) {
      this.#log.error(`A job is too large for readers of formatted events: ${messageOf(error)}`)
      this.#sumUpSoon() // of the others
    }
    this.#formatted.flush()
  }

  #take(event: Event): number {
    this.#delivered++
    if (this.#settings.events === 'own' && JobOwners.isTold(event.tag)) this.#owners.note(event)
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

  /** Whose jobs are running when the first reader comes, too. */
  async #noteOwners(): Promise<void> {
    for await (const event of this.#beginnings ?? []) this.#owners.note(event)
  }

  #tellGap(missed: number | undefined): void {
    const what = missed === undefined ? 'Events' : `${missed} events`
    this.#log.warn(`${what} did not reach the readers of the API: ${whyMissed(missed)}.`)
    this.#events.push(remark(`${what} were missed here: ${whyMissed(missed)}`))
    this.#events.flush()
  }

  #lookAfter(): void {
    this.#events.dropStalled()
    this.#formatted.dropStalled()
  }
}

const whyMissed = (missed: number | undefined): string =>
  missed === undefined
    ? 'the connection to the events of the master was lost for a while'
    : 'more came than this server could pass on'
