import { type Event, tags } from '../../events/index.ts'

const MAX_JOBS = 10_000

/**
 * First events of jobs and runs; that of a run whose function does not exist is its end. Only masters can fire these tags: minions may not,
 * and hooks and syndics use others.
 */
const OWNER_TAG = /^salt\/(?:(?:job|run|wheel)\/\d{20}[^/]*\/new|(?:run|wheel)\/\d{20}[^/]*\/ret)$/

/** Remembers who started the latest jobs and runs, by their first events. */
export class JobOwners {
  readonly #owners = new Map<string, string>()

  /** Whether events with this tag may name the owner of a job or run. */
  static readonly namesOwner = (tag: string): boolean => OWNER_TAG.test(tag)

  /** Remember the owner an event names; the first event of a job counts. */
  note({ tag, data }: Event): void {
    const jid = tags.jidOf(tag)
    if (
      jid === undefined ||
      !JobOwners.namesOwner(tag) ||
      typeof data.owner !== 'string' ||
      this.#owners.has(jid)
    )
      return
    this.#owners.set(jid, data.owner)
    if (this.#owners.size > MAX_JOBS) this.#owners.delete(this.#owners.keys().next().value as string)
  }

  /** Whether the job belongs to the owner. False for unknown jobs, which may be anybody's. */
  isOf(owner: string, jid: string): boolean {
    return this.#owners.get(jid) === owner
  }
}
