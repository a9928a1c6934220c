import { messageOf } from '../../base/errors.ts'
import { type Repetition, repeat } from '../../base/repeat.ts'
import { tags } from '../../events/index.ts'
import type { Decision } from '../../jobs/deliveries.ts'
import type { WorkerContext } from './context.ts'

type KeeperContext = Pick<WorkerContext, 'clock' | 'fire' | 'jobs' | 'log' | 'meter' | 'publications'>

/** Interval of checks for expired jobs and for decisions to announce. */
const POLL_MS = 1_000
/** Interval at which the jobs stored for minions are compared with those that minions may take. */
const COMPARE_MS = 60_000

/**
 * Fire the event about the delivery of a job with `deliver_within` to a minion, and count it. Resolves with false if the event
 * was lost.
 */
export async function announceDecision(
  { fire, meter }: Pick<WorkerContext, 'fire' | 'meter'>,
  { jid, id, state }: Decision,
): Promise<boolean> {
  const isFired = await fire(tags.jobDelivery(jid, state, id), { jid, id })
  if (isFired) meter?.count('salt_master_deliveries', [state])
  return isFired
}

/**
 * Expires jobs that wait for minions (`deliver_within`), removes stored jobs that no minion may take any more, and announces
 * these decisions. Only one process does so.
 */
export class DeliveryKeeper {
  readonly #context: KeeperContext
  /**
   * Jobs about which the two stores disagreed at the last comparison. One of the stores may have been written before the other.
   */
  #suspects: ReadonlySet<string> = new Set()
  #compareAt = 0
  #updates: Repetition | undefined

  constructor(context: KeeperContext) {
    this.#context = context
  }

  start(): this {
    const { log } = this.#context
    this.#updates ??= repeat(
      () => this.update(),
      POLL_MS,
      (error) =>
        log.error(`What becomes of jobs that wait for minions cannot be recorded: ${messageOf(error)}`),
    )
    return this
  }

  async close(): Promise<void> {
    await this.#updates?.close()
  }

  /** Close expired jobs, and announce decisions. */
  async update(): Promise<void> {
    const { jobs, clock, publications } = this.#context
    const now = clock.now()
    const over = jobs.deliveries.list().filter(({ untilMs }) => untilMs <= now)
    for (const { jid } of over) {
      await publications.remove(jid)
      await jobs.deliveries.close(jid, 'expired')
    }
    if (now >= this.#compareAt) {
      this.#compareAt = now + COMPARE_MS
      await this.#compare()
    }
    await this.#announce()
  }

  /** Remove stored jobs that no minion may take, and cancel jobs that minions may take but that are no longer stored. */
  async #compare(): Promise<void> {
    const { jobs, publications, log } = this.#context
    const kept = publications.waiting()
    const open = new Set(jobs.deliveries.list().map(({ jid }) => jid))
    const different = new Set([...kept, ...open].filter((jid) => kept.has(jid) !== open.has(jid)))
    for (const jid of different) {
      if (!this.#suspects.has(jid)) continue
      if (kept.has(jid)) await publications.remove(jid)
      else {
        log.error(`Job ${jid} is cancelled where it waits: the master no longer has it as it was published.`)
        await jobs.deliveries.close(jid, 'cancelled')
      }
    }
    this.#suspects = different
  }

  async #announce(): Promise<void> {
    const { deliveries } = this.#context.jobs
    const decisions = deliveries.unannounced()
    if (decisions.length === 0) return
    const fired = await Promise.all(decisions.map((one) => announceDecision(this.#context, one)))
    await deliveries.announced(decisions.filter((_, index) => fired[index]))
  }
}
