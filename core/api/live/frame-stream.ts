import { EventLog } from '../../events/index.ts'
import type { Frame } from './frames.ts'

/** Consecutive frames, written in one piece. */
export class FrameBatch<F extends Frame> {
  readonly frames: readonly F[]
  /** The position after the last frame. */
  readonly end: number
  #joined: Buffer | undefined

  constructor(frames: readonly F[], end: number) {
    this.frames = frames
    this.end = end
  }

  /** The frames as server-sent events, joined once for all readers of this batch. */
  get sse(): Buffer {
    this.#joined ??= Buffer.concat(this.frames.map(({ sse }) => sse))
    return this.#joined
  }

  only(wants: (frame: F) => boolean): FrameBatch<F> {
    return new FrameBatch(this.frames.filter(wants), this.end)
  }
}

/** A connection that receives frames. */
export interface FrameSink<F extends Frame> {
  /** Write a batch. `done` is called when all of it has left this process; the next batch is written after that. */
  write(batch: FrameBatch<F>, done: () => void): void
  /** Close the connection of a reader that does not keep up. `reason` is a sentence. */
  drop(reason: string): void
}

export interface StreamReader {
  /** Stop sending frames to it. */
  close(): void
}

interface Position<F extends Frame> {
  readonly sink: FrameSink<F>
  readonly wants: ((frame: F) => boolean) | undefined
  next: number
  /** When the batch in flight was written, in milliseconds of `performance.now()`. */
  writing: number | undefined
}

export interface StreamSettings {
  /** How many bytes a reader may be behind. */
  readonly maxBacklog: number
  /** How long a reader may accept no data although there is some, in milliseconds. */
  readonly maxStallMs: number
}

/** Size of a batch. */
const BATCH_BYTES = 64 * 1024

/**
 * Sends frames to all readers from one log, so that slow readers cost no memory of their own: each has a position in
 * the log and one batch in flight. A reader whose position falls out of the log is dropped.
 */
export class FrameStream<F extends Frame> {
  readonly #settings: StreamSettings
  readonly #log: EventLog<F>
  readonly #readers = new Set<Position<F>>()
  /** Batches of this flush by their first position: most readers are at the same one. */
  readonly #batches = new Map<number, FrameBatch<F>>()
  /** The position after the last flushed frame. */
  #flushed = 0
  #dropped = 0

  constructor(settings: StreamSettings) {
    this.#settings = settings
    this.#log = new EventLog(settings.maxBacklog)
  }

  get readers(): number {
    return this.#readers.size
  }

  /** Number of readers dropped since the start. */
  get dropped(): number {
    return this.#dropped
  }

  /** Add a reader, which gets the frames pushed from now on. */
  add(sink: FrameSink<F>, wants?: (frame: F) => boolean): StreamReader {
    const reader: Position<F> = { sink, wants, next: this.#log.end, writing: undefined }
    this.#readers.add(reader)
    return { close: () => this.#readers.delete(reader) }
  }

  push(frame: F): void {
    if (this.#readers.size > 0) this.#log.push(frame)
  }

  /** Write the pushed frames to all readers. */
  flush(): void {
    this.#batches.clear()
    this.#flushed = this.#log.end
    for (const reader of this.#readers) this.#pump(reader)
    let needed = this.#log.end
    for (const { next } of this.#readers) needed = Math.min(needed, next)
    this.#log.dropBefore(needed)
  }

  /** Drop readers that accept no data. To be called periodically. */
  dropStalled(now: number = performance.now()): void {
    const { maxStallMs } = this.#settings
    this.#batches.clear()
    for (const reader of this.#readers) {
      if (reader.writing !== undefined && now - reader.writing > maxStallMs)
        this.#drop(reader, `It has read nothing for ${Math.round(maxStallMs / 1000)} s.`)
    }
  }

  #pump(reader: Position<F>): void {
    if (!this.#readers.has(reader)) return
    if (reader.next < this.#log.first) {
      this.#drop(reader, this.#behind)
      return
    }
    while (reader.writing === undefined && reader.next < this.#flushed) this.#write(reader)
  }

  #write(reader: Position<F>): void {
    const { sink, wants, next } = reader
    const batch = this.#batchAt(next)
    const wanted = wants ? batch.only(wants) : batch
    reader.next = batch.end
    if (wanted.frames.length === 0) return
    reader.writing = performance.now()
    sink.write(wanted, () => {
      reader.writing = undefined
      this.#pump(reader)
    })
  }

  #batchAt(first: number): FrameBatch<F> {
    const known = this.#batches.get(first)
    if (known) return known
    const frames: F[] = []
    for (let at = first, size = 0; at < this.#flushed && size < BATCH_BYTES; at++) {
      const frame = this.#log.at(at) as F
      frames.push(frame)
      size += frame.length
    }
    const batch = new FrameBatch(frames, first + frames.length)
    this.#batches.set(first, batch)
    return batch
  }

  #drop(reader: Position<F>, reason: string): void {
    this.#readers.delete(reader)
    this.#dropped++
    reader.sink.drop(reason)
  }

  get #behind(): string {
    const mebibytes = this.#settings.maxBacklog / 2 ** 20
    return `It was more than ${Number(mebibytes.toFixed(2))} MiB of events behind.`
  }
}
