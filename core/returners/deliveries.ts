import type { Log } from '../author/context.ts'
import type { Outbox, QueuedParcel, TargetState } from '../jobs/outbox.ts'
import { targetFrom } from '../jobs/outbox-target.ts'
import { Delivery, type DeliverySettings } from './delivery.ts'
import { openReturner, type ReturnerHost } from './open-returner.ts'

export interface DeliveriesSettings extends DeliveryTimes {
  /** Of the returner; what is queued for others is left alone. */
  readonly name: string
  readonly outboxes: readonly Outbox[]
  readonly host: ReturnerHost
  readonly log: Log
  /** Of targets that wait for more before they are written to. */
  gather?(target: string): DeliverySettings['gather']
  /** Told when the store goes away and when it is back. */
  onState?(state: TargetState): void
  /** Told when parcels were written, and once, with the reason, when they have to wait. */
  onTried?(parcels: readonly QueuedParcel[], error?: string): void
}

export type DeliveryTimes = Pick<DeliverySettings, 'retry' | 'keepMs' | 'timeoutMs'>

/** By the options of a master or minion, which are in seconds. */
export const deliveryTimes = (config: {
  readonly outbox_retry_timer: number
  readonly outbox_retry_timer_max: number
  readonly outbox_keep_seconds: number
  readonly returner_timeout: number
}): DeliveryTimes => ({
  retry: { minMs: config.outbox_retry_timer * 1000, maxMs: config.outbox_retry_timer_max * 1000 },
  keepMs: config.outbox_keep_seconds * 1000,
  timeoutMs: config.returner_timeout * 1000,
})

/** Brings whatever is in outboxes for a returner to its store, each target (an own set of options) at its own pace. */
export class Deliveries {
  readonly #settings: DeliveriesSettings
  readonly #running = new Map<string, Delivery>()

  constructor(settings: DeliveriesSettings) {
    this.#settings = settings
    this.look()
  }

  /** Something was added. */
  look(): void {
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

  /** What is being written is finished or given up; the rest stays in the outboxes, which stay open. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map((delivery) => delivery.close()))
  }

  #start(outbox: Outbox, text: string): Delivery {
    const { name, host, log, retry, keepMs, timeoutMs, gather, onState, onTried } = this.#settings
    return new Delivery({
      target: text,
      name,
      outbox,
      open: () => openReturner(targetFrom(text), host),
      log,
      retry,
      keepMs,
      timeoutMs,
      gather: gather?.(text),
      ...(onState && { onState }),
      ...(onTried && { onTried }),
    })
  }
}
