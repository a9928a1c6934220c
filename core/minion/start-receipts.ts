import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { tags } from '../events/index.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { MasterLink } from './master-link.ts'

type Link = Pick<MasterLink, 'isSignedIn' | 'request'>

export interface ReceiptSettings {
  readonly id: string
  readonly log: Log
  /** A job that is over before gets no receipt: its return says more, and comes as soon. Milliseconds. */
  readonly afterMs?: number
}

/** Receipts are sent so long after the first of them is due, all in one request. Milliseconds. */
const TOGETHER_MS = 50

/**
 * Tells masters which jobs have begun here (`salt/job/<jid>/start/<id>`), so that who waits for one need not guess. A
 * receipt is sent once and not waited for; one that is lost does no harm, as the minion can be asked (wire protocol §13.3).
 */
export class StartReceipts {
  readonly #settings: ReceiptSettings
  readonly #due = new Map<Link, object[]>()
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(settings: ReceiptSettings) {
    this.#settings = settings
  }

  /** A job begins. What this gives is called when it is over. */
  began({ jid, fun }: Pick<JobLoad, 'jid' | 'fun'>, link: Link): () => void {
    const { id, afterMs = 500 } = this.#settings
    const spread = Math.random() * afterMs // not all minions of a job at once
    return this.#after(afterMs + spread, () =>
      this.#tell(link, { tag: tags.jobStart(jid, id), data: { jid, id, fun } }),
    )
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #tell(link: Link, receipt: object): void {
    const due = this.#due.get(link)
    if (due) return void due.push(receipt)
    this.#due.set(link, [receipt])
    this.#after(TOGETHER_MS, () => this.#send(link))
  }

  /** A master that is away is not told later: then other things are true. */
  #send(link: Link): void {
    const { id, log } = this.#settings
    const events = this.#due.get(link) ?? []
    this.#due.delete(link)
    if (!link.isSignedIn) return
    link
      .request(makeMinionEvent(id, { events }))
      .catch((error: unknown) => log.debug(`The master was not told which jobs began: ${messageOf(error)}`))
  }

  /** Gives what calls it off. */
  #after(ms: number, act: () => void): () => void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms)
    this.#timers.add(timer)
    return () => {
      clearTimeout(timer)
      this.#timers.delete(timer)
    }
  }
}
