import type { Event } from '../../events/index.ts'

const MAX_JOBS = 10_000

/** Fired by masters alone: minions may not, and what is sent to hooks or forwarded by syndics has other tags. */
const NEW = /^salt\/(?:job|run|wheel)\/(\d{20}[^/]*)\/new$/

/** Who started which of the latest jobs and runs, as their first events tell. */
export class JobOwners {
  readonly #owners = new Map<string, string>()

  /** Tags of events that tell whose a job or run is. */
  static readonly isTold = (tag: string): boolean => NEW.test(tag)

  /** The first event of a job counts. */
  note({ tag, data }: Event): void {
    const jid = NEW.exec(tag)?.[1]
    if (jid === undefined || typeof data.owner !== 'string' || this.#owners.has(jid)) return
    this.#owners.set(jid, data.owner)
    if (this.#owners.size > MAX_JOBS) this.#owners.delete(this.#owners.keys().next().value as string)
  }

  /** False, too, for a job of which nothing is known: it may be anybody's. */
  isOf(owner: string, jid: string): boolean {
    return this.#owners.get(jid) === owner
  }
}
