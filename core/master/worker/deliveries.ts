import { messageOf } from '../../base/errors.ts'
import { tags } from '../../events/index.ts'
import type { DeliveryState } from '../../jobs/deliveries.ts'
import type { WorkerContext } from './context.ts'

type DeliveryContext = Pick<WorkerContext, 'clock' | 'fire' | 'jobs' | 'log' | 'meter' | 'publications'>

/** How often to look for jobs whose time is over. */
const POLL_MS = 1_000
/** How often to look whether any minion may still take a job. Reads the records of all its minions. */
const LOOK_MS = 60_000

/** Count and announce what became of a job with `deliver_within` on a minion. Resolves with false if the event was lost. */
export function announceDelivery(
  { fire, meter }: Pick<WorkerContext, 'fire' | 'meter'>,
  { jid, id, state }: { readonly jid: string; readonly id: string; readonly state: DeliveryState },
): Promise<boolean> {
  meter?.count('salt_master_deliveries', [state])
  return fire(tags.jobDelivery(jid, state, id), { jid, id })
}

/**
 * Closes the jobs that minions may take no longer, removes what is kept for them, and announces what has become of them. Only one
 * process does so.
 */
export class DeliveryKeeper {
  readonly #context: DeliveryContext
  /** When to look at each open job again, by the clock. */
  readonly #due = new Map<string, number>()
  #looking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(context: DeliveryContext) {
    this.#context = context
  }

  start(): this {
    this.#timer ??= setInterval(() => void this.#lookOnce(), POLL_MS).unref()
    return this
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  #lookOnce(): Promise<void> {
    this.#looking ??= this.look()
      .catch((error: unknown) =>
        this.#context.log.error(`Jobs that wait for minions cannot be looked after now: ${messageOf(error)}`),
      )
      .finally(() => {
        this.#looking = undefined
      })
    return this.#looking
  }

  /** Close the jobs that are due, and announce what has changed. */
  async look(): Promise<void> {
    await this.#closeDue()
    const { deliveries } = this.#context.jobs
    const news = deliveries.news()
    const fired = await Promise.all(news.map((one) => announceDelivery(this.#context, one)))
    if (fired.length > 0) await deliveries.announced(news.filter((_, index) => fired[index]))
  }

  async #closeDue(): Promise<void> {
    const { jobs, clock } = this.#context
    const now = clock.now()
    const open = jobs.deliveries.list()
    const due = open.filter(({ jid, until }) => until <= now || this.#isDue(jid, now))
    const kept = due.length > 0 ? this.#context.publications.waiting() : new Set<string>()
    for (const { jid, until } of due) {
      if (until <= now) await this.#close(jid, 'expired')
      else if (jobs.deliveries.undecided(jid).length === 0) await this.#close(jid, 'expired')
      else if (!kept.has(jid)) {
        this.#context.log.error(
          `Job ${jid} is cancelled for the minions that wait for it: the master no longer has it as it was published.`,
        )
        await this.#close(jid, 'cancelled')
      }
    }
    const isOpen = new Set(open.map(({ jid }) => jid))
    for (const jid of this.#due.keys()) if (!isOpen.has(jid)) this.#due.delete(jid)
  }

  /** Whether it is time to look at a job that waits; the first time is a while after it was published. */
  #isDue(jid: string, now: number): boolean {
    const due = this.#due.get(jid)
    if (due === undefined || due <= now) this.#due.set(jid, now + LOOK_MS)
    return due !== undefined && due <= now
  }

  /** Close a job. What is kept of it is removed first: after a crash in between, the job is still open, and is closed again. */
  async #close(jid: string, state: 'expired' | 'cancelled'): Promise<void> {
    await this.#context.publications.remove(jid)
    await this.#context.jobs.deliveries.close(jid, state)
  }
}
