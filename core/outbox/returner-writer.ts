import type { Log } from '../author/context.ts'
import { openConfiguredReturner, type ReturnerHost } from './open-returner.ts'
import type { Outbox, QueueEntry, TargetState } from './outbox.ts'
import { targetFrom } from './outbox-target.ts'
import { TargetWriter, type TargetWriterSettings } from './target-writer.ts'

export interface ReturnerWriterSettings extends WriteTimes {
  /** Name of the returner. Items for other returners are ignored. */
  readonly name: string
  readonly outboxes: readonly Outbox[]
  readonly host: ReturnerHost
  readonly log: Log
  /** Return the gathering limits of a target; undefined if its items are written at once. */
  gather?(target: string): TargetWriterSettings['gather']
  /** Called when the store becomes unavailable and when it is available again. */
  onState?(state: TargetState): void
  /** Called when items were written; also once with the error if they have to wait. */
  onTried?(entries: readonly QueueEntry[], error?: string): void
}

export type WriteTimes = Pick<TargetWriterSettings, 'retry' | 'keepMs' | 'timeoutMs'>

/** Convert the options of a master or minion, which are in seconds. */
export const writeTimes = (config: {
  readonly outbox_retry_timer: number
  readonly outbox_retry_timer_max: number
  readonly outbox_keep_seconds: number
  readonly returner_timeout: number
}): WriteTimes => ({
  retry: { minMs: config.outbox_retry_timer * 1000, maxMs: config.outbox_retry_timer_max * 1000 },
  keepMs: config.outbox_keep_seconds * 1000,
  timeoutMs: config.returner_timeout * 1000,
})

/** Writes the items in outboxes for one returner to its stores. Each target (a set of options) is independent of the others. */
export class ReturnerWriter {
  readonly #settings: ReturnerWriterSettings
  readonly #running = new Map<string, TargetWriter>()

  constructor(settings: ReturnerWriterSettings) {
    this.#settings = settings
    this.wake()
  }

  /** Start or wake the writers of all targets with queued items. */
  wake(): void {
    for (const [index, outbox] of this.#settings.outboxes.entries()) {
      for (const target of outbox.targets()) {
        if (targetFrom(target).name !== this.#settings.name) continue
        const key = `${index} ${target}`
        const running = this.#running.get(key)
        if (running) running.wake()
        else this.#running.set(key, this.#start(outbox, target))
      }
    }
  }

  /** Wait until current writes have finished or failed. Other items stay in the outboxes, which stay open. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map((writer) => writer.close()))
  }

  #start(outbox: Outbox, target: string): TargetWriter {
    const { name, host, log, retry, keepMs, timeoutMs, gather, onState, onTried } = this.#settings
    return new TargetWriter({
      target,
      name,
      outbox,
      open: () => openConfiguredReturner(targetFrom(target), host),
      log,
      retry,
      keepMs,
      timeoutMs,
      gather: gather?.(target),
      ...(onState && { onState }),
      ...(onTried && { onTried }),
    })
  }
}
