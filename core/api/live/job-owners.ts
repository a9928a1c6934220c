import { type Event, tags } from '../../events/index.ts'

const MAX_JOBS = 10_000

/** Who started which of the latest jobs and runs, as their first events tell. */
export class JobOwners {
  readonly #owners = new Map<string, string>()

  /** Tags of events that tell whose a job or run is. */
  static readonly isTold = (tag: string): boolean => tag.endsWith('/new') && tags.jidOf(tag) !== undefined

  note({ tag, data }: Event): void {
    const jid = tags.jidOf(tag)
    if (jid === undefined || typeof data.user !== 'string') return
    this.#owners.set(jid, data.user)
    if (this.#owners.size > MAX_JOBS) this.#owners.delete(this.#owners.keys().next().value as string)
  }

  /** False, too, for a job of which nothing is known: it may be anybody's. */
  isOf(user: string, jid: string): boolean {
    return this.#owners.get(jid) === user
  }
}
