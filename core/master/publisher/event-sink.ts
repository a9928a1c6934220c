import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import { fnmatch } from '../../dialect/fnmatch.ts'
import { decodeEvent } from '../../events/index.ts'
import type { Outbox, OutboxItem } from '../../outbox/outbox.ts'
import { targetsOf, targetText } from '../../outbox/outbox-target.ts'

/** Limits the events stored in one commit. On a busy disk a commit takes about the same time for one event or many. */
const MAX_EVENTS_PER_COMMIT = 5000
/** Limits the bytes of these events. They are decoded for a commit, and a megabyte of empty maps takes nearly 70 MB then. */
const MAX_COMMIT_BYTES = 4 * 1024 * 1024
/** Limits the events that wait for a commit, in bytes. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** Time for which lost events are counted before they are reported. While the disk is full, every commit loses some. */
const REPORT_MS = 1000

/** Return the returners of `event_return`. */
export const eventTargets = (config: MasterConfig): string[] => targetsOf(config.event_return).map(targetText)

export interface EventSinkSettings {
  readonly outbox: Pick<Outbox, 'add'>
  readonly log: Log
  /** Called when events were put into the outbox. */
  onQueued(): void
}

/** Puts every selected event into the outbox of `event_return`; events that are fired together share a commit. */
export class EventSink {
  readonly #settings: EventSinkSettings
  readonly #targets: readonly string[]
  readonly #selects: (tag: string) => boolean
  /** Events for the next commit; undefined while none are taken for it. */
  #batch: Batch | undefined
  /** Bytes of the events that wait for a commit. */
  #waitingBytes = 0
  #missed = 0
  /** Events that could not be stored since the last report, why, and when that is reported. */
  #lost = { count: 0, why: '' }
  #reporting: NodeJS.Timeout | undefined
  /** Resolves when the events taken so far are stored, or lost. Batches are stored one after another. */
  #stored: Promise<void> = Promise.resolve()

  constructor(config: MasterConfig, settings: EventSinkSettings) {
    this.#settings = settings
    this.#targets = eventTargets(config)
    this.#selects = selectedBy(config)
  }

  /** Take an event with its encoded body, if it is selected. Beyond `MAX_WAITING_BYTES` it is lost, which is logged. */
  take(tag: string, body: Uint8Array): void {
    if (!this.#selects(tag)) return
    if (this.#waitingBytes + body.byteLength > MAX_WAITING_BYTES) {
      this.#missed++
      return
    }
    this.#waitingBytes += body.byteLength
    if (!this.#batch || isFull(this.#batch)) this.#batch = this.#newBatch()
    this.#batch.bodies.push(body)
    this.#batch.bytes += body.byteLength
  }

  /** Resolves when the events taken so far are on disk. Those that cannot be stored are lost, which is logged. */
  stored(): Promise<void> {
    return this.#stored
  }

  /** Resolves when all events are stored. */
  async close(): Promise<void> {
    await this.#stored
    this.#reportLost()
  }

  /** Return a batch that gathers events until those before it are stored. */
  #newBatch(): Batch {
    const batch: Batch = { bodies: [], bytes: 0 }
    this.#stored = this.#stored.then(() => {
      if (this.#batch === batch) this.#batch = undefined
      this.#waitingBytes -= batch.bytes
      return this.#store(batch.bodies)
    })
    return batch
  }

  async #store(bodies: readonly Uint8Array[]): Promise<void> {
    const { outbox, log, onQueued } = this.#settings
    if (this.#missed > 0)
      log.error(`${this.#missed} events are not in event_return: they came faster than they could be stored.`)
    this.#missed = 0
    const items = bodies.flatMap((body) => this.#item(body) ?? [])
    try {
      await outbox.add(this.#targets, items)
      onQueued()
    } catch (error) {
      this.#lost = { count: this.#lost.count + items.length, why: messageOf(error) }
      this.#reporting ??= setTimeout(() => this.#reportLost(), REPORT_MS)
    }
  }

  #reportLost(): void {
    clearTimeout(this.#reporting)
    this.#reporting = undefined
    const { count, why } = this.#lost
    if (count > 0) this.#settings.log.error(`${count} events are not in event_return: ${why}`)
    this.#lost = { count: 0, why: '' }
  }

  #item(body: Uint8Array): OutboxItem | undefined {
    try {
      return { kind: 'event', ...decodeEvent(body) }
    } catch (error) {
      this.#settings.log.error(`An event is not in event_return: ${messageOf(error)}`)
      return undefined
    }
  }
}

interface Batch {
  readonly bodies: Uint8Array[]
  bytes: number
}

const isFull = ({ bodies, bytes }: Batch): boolean =>
  bodies.length >= MAX_EVENTS_PER_COMMIT || bytes >= MAX_COMMIT_BYTES

/** Return the filter of `event_return_whitelist` and `event_return_blacklist`, which are shell patterns for tags. */
function selectedBy(config: MasterConfig): (tag: string) => boolean {
  const [white, black] = [config.event_return_whitelist, config.event_return_blacklist]
  const matches = (tag: string, patterns: readonly string[]) =>
    patterns.some((pattern) => fnmatch(tag, pattern))
  return (tag) => (white.length === 0 || matches(tag, white)) && !matches(tag, black)
}
