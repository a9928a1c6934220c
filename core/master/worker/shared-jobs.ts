import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import type { LoadRecord } from '../../author/returner.ts'
import { messageOf } from '../../base/errors.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import { NotAcknowledged } from '../../channel/request-server.ts'

/** A job that another master of the cluster has published. */
export interface SharedJob {
  readonly load: LoadRecord['load']
  readonly minions: ReadonlySet<string>
}

/** All in milliseconds. */
interface SearchTimes {
  /** Pauses before each search: a master stores its job soon after it has published it. */
  readonly pauses: readonly number[]
  /** How long a store may take to answer. */
  readonly answer: number
  /** Time after which a job that was not found is searched again. */
  readonly again: number
  /** Time after which a store that did not answer is asked again. */
  readonly away: number
}

const TIMES: SearchTimes = {
  pauses: [0, 100, 200, 400, 800, 1_600],
  answer: 5_000,
  again: 60_000,
  away: 5_000,
}
/** Maximum number of concurrent searches for the returns of one minion. */
const MAX_OF_ONE = 4
/** Limits the cached minion ids of all jobs together; a job counts as one more. */
const MAX_IDS = 50_000

/** The jobs of other masters of a cluster that this worker has looked up in the stores of the cluster. */
export class SharedJobs {
  readonly #times: SearchTimes
  readonly #search: (jid: string) => Promise<LoadRecord | undefined>
  readonly #warn: (sentence: string) => void
  /** By jid, the oldest entry first. A job that was not found is undefined, and is searched again from the time `until`. */
  readonly #found = new Map<string, { readonly job: SharedJob | undefined; readonly until: number }>()
  readonly #searching = new Map<string, Promise<void>>()
  /** Number of searches by minion. */
  readonly #byMinion = new Map<string, number>()
  #ids = 0
  #awayUntil = 0

  /** `search` returns a job from the stores; undefined if they do not have it. It rejects if they cannot be read. */
  constructor(
    search: (jid: string) => Promise<LoadRecord | undefined>,
    log: Pick<Log, 'warn'>,
    times = TIMES,
  ) {
    this.#search = search
    this.#warn = onceInAWhile((sentence) => log.warn(sentence))
    this.#times = times
  }

  get(jid: string): SharedJob | undefined {
    return this.#found.get(jid)?.job
  }

  /**
   * Look up a job for which a minion has sent a return. A job that is in no store is searched for about 3 seconds. A known job is
   * looked up again if the minion is not among its minions, since a second publication under the same jid may have changed them.
   * Rejects with NotAcknowledged if the minion sends returns for many unknown jobs at once.
   */
  async find(jid: string, id: string): Promise<void> {
    const found = this.#found.get(jid)
    if (found && (found.job ? found.job.minions.has(id) : performance.now() < found.until)) return
    if (performance.now() < this.#awayUntil) return
    const count = this.#byMinion.get(id) ?? 0
    if (count >= MAX_OF_ONE) throw new NotAcknowledged(`${id} sent returns for many unknown jobs at once.`)
    this.#byMinion.set(id, count + 1)
    try {
      await (this.#searching.get(jid) ?? this.#start(jid))
    } finally {
      const left = (this.#byMinion.get(id) ?? 1) - 1
      if (left > 0) this.#byMinion.set(id, left)
      else this.#byMinion.delete(id)
    }
  }

  #start(jid: string): Promise<void> {
    const search = this.#searchUntilFound(jid).finally(() => this.#searching.delete(jid))
    this.#searching.set(jid, search)
    return search
  }

  async #searchUntilFound(jid: string): Promise<void> {
    try {
      for (const pause of this.get(jid) ? [0] : this.#times.pauses) {
        await delay(pause)
        const job = await this.#ask(jid)
        if (job) return this.#keep(jid, { load: job.load, minions: new Set(job.minions) })
      }
      if (!this.get(jid)) this.#keep(jid, undefined)
    } catch (error) {
      this.#awayUntil = performance.now() + this.#times.away
      this.#warn(
        `The jobs of the other masters of the cluster cannot be looked up, so returns for them are accepted from any minion: ${messageOf(error)}`,
      )
    }
  }

  async #ask(jid: string): Promise<LoadRecord | undefined> {
    let job: LoadRecord | undefined
    const search = this.#search(jid).then((found) => {
      job = found
    })
    if (!(await endsWithin(search, this.#times.answer)))
      throw new Error(`the store does not answer within ${this.#times.answer / 1000} s`)
    return job
  }

  #keep(jid: string, job: SharedJob | undefined): void {
    this.#forget(jid)
    this.#found.set(jid, { job, until: performance.now() + this.#times.again })
    this.#ids += 1 + (job?.minions.size ?? 0)
    for (const oldest of this.#found.keys()) {
      if (this.#ids <= MAX_IDS || oldest === jid) break
      this.#forget(oldest)
    }
  }

  #forget(jid: string): void {
    const found = this.#found.get(jid)
    if (!found) return
    this.#ids -= 1 + (found.job?.minions.size ?? 0)
    this.#found.delete(jid)
  }
}
