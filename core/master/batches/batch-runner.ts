import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { type BatchContext, RunningBatch } from './running-batch.ts'

/** Time between two rounds, while there is a batch and while there is none. */
const BUSY_MS = 200
const IDLE_MS = 1_000
/** Time after a round that failed, as when the disk is full. */
const FAILED_MS = 5_000

/** Runs the batches of this master, including those from before its start. Only one process does so. */
export class BatchRunner {
  readonly #context: BatchContext
  readonly #clock: Clock
  readonly #running = new Map<string, RunningBatch>()
  readonly #closing = new AbortController()
  #loop: Promise<void> | undefined

  constructor(context: BatchContext, clock: Clock) {
    this.#context = context
    this.#clock = clock
  }

  start(): this {
    this.#loop ??= this.#keep()
    return this
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#loop
  }

  async #keep(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      const isFine = await this.advance().catch((error: unknown) => {
        this.#context.log.error(`Batches cannot continue at the moment: ${messageOf(error)}`)
        return false
      })
      const pause = !isFine ? FAILED_MS : this.#running.size > 0 ? BUSY_MS : IDLE_MS
      await delay(pause, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Advance each batch. Returns false if one failed. */
  async advance(): Promise<boolean> {
    let isFine = true
    for (const jid of this.#context.jobs.batches.open()) isFine = (await this.#advance(jid)) && isFine
    return isFine
  }

  async #advance(jid: string): Promise<boolean> {
    try {
      if (await this.#step(jid)) this.#running.delete(jid)
      return true
    } catch (error) {
      this.#running.delete(jid) // it is loaded again from what is stored
      this.#context.log.error(`Batch ${jid} cannot continue at the moment: ${messageOf(error)}`)
      return false
    }
  }

  async #step(jid: string): Promise<boolean> {
    const now = this.#clock.now()
    let batch = this.#running.get(jid)
    if (!batch) {
      const stored = this.#context.jobs.batches.load(jid)
      if (!stored) return true
      batch = new RunningBatch(this.#context, stored, now)
      this.#running.set(jid, batch)
    }
    return batch.step(now)
  }
}
