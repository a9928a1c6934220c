import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { tags } from '../../events/index.ts'
import { makeMinionEvent } from '../../wire/minion-event.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { MasterConnection } from './master-connection.ts'

type Connection = Pick<MasterConnection, 'isSignedIn' | 'request'>

export interface JobStartEventsSettings {
  readonly id: string
  readonly log: Log
  /** Milliseconds. A job that ends earlier gets no start event, since its return makes the event unnecessary. */
  readonly afterMs?: number
}

/** Start events that are due within this time of the first one are sent in one request. */
const BATCH_MS = 50

/**
 * Sends masters an event when a job has begun (`salt/job/<jid>/start/<id>`), so that clients know that the minion works on
 * it. Each event is sent once, without a retry. A lost one does no harm: the client asks the minion (wire protocol §13.3).
 */
export class JobStartEvents {
  readonly #settings: JobStartEventsSettings
  readonly #due = new Map<Connection, object[]>()
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(settings: JobStartEventsSettings) {
    this.#settings = settings
  }

  /** Schedule the start event of a job. Returns a function to call when the job is over. */
  began({ jid, fun }: Pick<JobLoad, 'jid' | 'fun'>, connection: Connection): () => void {
    const { id, afterMs = 500 } = this.#settings
    const spread = Math.random() * afterMs // so that the minions of a job do not all send at once
    return this.#after(afterMs + spread, () =>
      this.#queue(connection, { tag: tags.jobStart(jid, id), data: { jid, id, fun } }),
    )
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #queue(connection: Connection, receipt: object): void {
    const due = this.#due.get(connection)
    if (due) return void due.push(receipt)
    this.#due.set(connection, [receipt])
    this.#after(BATCH_MS, () => this.#send(connection))
  }

  /** Send the due events. They are dropped if the master is disconnected, since they would be outdated later. */
  #send(connection: Connection): void {
    const { id, log } = this.#settings
    const events = this.#due.get(connection) ?? []
    this.#due.delete(connection)
    if (!connection.isSignedIn) return
    connection
      .request(makeMinionEvent(id, { events }))
      .catch((error: unknown) =>
        log.debug(`Events of begun jobs were not sent to the master: ${messageOf(error)}`),
      )
  }

  /** Run `act` after `ms` milliseconds. Returns a function that cancels it. */
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
