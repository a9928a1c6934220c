import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { type BatchRoom, RunningBatch } from './running-batch.ts'

/** Between two looks, while there is a batch and while there is none. */
const BUSY_MS = 200
const IDLE_MS = 1_000
/** After one that failed, as when the disk is full. */
const FAILED_MS = 5_000

/** Runs the batches of this master, those that were under way before it was started as well. One process does. */
export class BatchKeeper {
  readonly #room: BatchRoom
  readonly #clock: Clock
  readonly #running = new Map<string, RunningBatch>()
  readonly #closing = new AbortController()
  #loop: Promise<void> | undefined

  constructor(room: BatchRoom, clock: Clock) {
    this.#room = room
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
      const isFine = await this.look().catch((error: unknown) => {
        this.#room.log.error(`Batches cannot go on for the moment: ${messageOf(error)}`)
        return false
      })
      const pause = !isFine ? FAILED_MS : this.#running.size > 0 ? BUSY_MS : IDLE_MS
      await delay(pause, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Have each batch do what is to be done now. False if one could not. */
  async look(): Promise<boolean> {
    let isFine = true
    for (const jid of this.#room.jobs.batches.open()) isFine = (await this.#advance(jid)) && isFine
    return isFine
  }

  async #advance(jid: string): Promise<boolean> {
    try {
      if (await this.#step(jid)) this.#running.delete(jid)
      return true
    } catch (error) {
      this.#running.delete(jid) // what is stored counts
      this.#room.log.error(`Batch ${jid} cannot go on for the moment: ${messageOf(error)}`)
      return false
    }
  }

  async #step(jid: string): Promise<boolean> {
    const now = this.#clock.now()
    let batch = this.#running.get(jid)
    if (!batch) {
      const stored = this.#room.jobs.batches.load(jid)
      if (!stored) return true
      batch = new RunningBatch(this.#room, stored, now)
      this.#running.set(jid, batch)
    }
    return batch.step(now)
  }
}
