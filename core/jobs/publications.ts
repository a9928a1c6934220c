import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { encodeLocal } from '../codec/index.ts'
import { jobCacheDirectory } from '../config/cachedir.ts'
import type { MasterConfig } from '../config/index.ts'
import { type KeyRange, openStore, type Store, type StoreChange, type StoreOptions } from '../store/index.ts'
import {
  type MissedJob,
  type MissedJobs,
  makeMissedJob,
  type PublicationPosition,
  readMissedJob,
} from '../wire/missed-jobs.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { RawArguments } from '../wire/raw-arguments.ts'

/** Limits of a page of {@link Publications.page}. */
const MAX_PAGE_JOBS = 100
const MAX_PAGE_BYTES = 2 ** 20
/** A publication from further in the future was stored before the clock was set back: it is not given again a day later. */
const MAX_CLOCK_STEP_MS = 300_000
/** Maximum number of expired publications that are removed with each new one. */
const FORGET_AT_ONCE = 5

/**
 * The latest jobs as they were published, for minions that were not connected then: `['publication', ms, jid]` →
 * {@link MissedJob}. They have a store of their own, which no backup contains, and are removed after `missed_jobs_seconds`,
 * since they contain secrets. Several processes may have the store open.
 */
export class Publications {
  readonly #store: Store
  readonly #clock: Clock
  readonly #keepMs: number

  /** Return the path of the file. */
  static path(config: MasterConfig): string {
    return join(jobCacheDirectory(config), 'publications.mdb')
  }

  /** @throws SaltError STORE_FAILED */
  static open(config: MasterConfig, options: StoreOptions & { readonly clock?: Clock } = {}): Publications {
    const store = openStore(Publications.path(config), options)
    return new Publications(store, options.clock ?? systemClock, config.missed_jobs_seconds * 1000)
  }

  private constructor(store: Store, clock: Clock, keepMs: number) {
    this.#store = store
    this.#clock = clock
    this.#keepMs = keepMs
  }

  /** Resolves when the job is on disk, so that it may be published. Rejects with STORE_FAILED. */
  async put(job: JobLoad, words?: RawArguments): Promise<void> {
    if (this.#keepMs === 0) return
    await this.#store.change((records) => {
      forget(records, this.#expired(), FORGET_AT_ONCE)
      records.put(['publication', this.#clock.now(), job.jid], makeMissedJob({ job, words }))
    })
  }

  /** Return the jobs that `isWanted` selects by their jid, oldest first, one page of them. */
  page(isWanted: (jid: string) => boolean, after?: PublicationPosition): MissedJobs {
    const jobs: MissedJob[] = []
    const now = this.#clock.now()
    const oldest = now - this.#keepMs
    const from = after && after[0] >= oldest ? ['publication', ...after] : ['publication', oldest]
    let bytes = 0
    let last: PublicationPosition | undefined
    for (const key of this.#store.keys({ from, to: ['publication', now + MAX_CLOCK_STEP_MS] })) {
      const jid = String(key[2])
      if (jid === after?.[1] || !isWanted(jid)) continue
      const value = this.#store.get(key)
      const missed = readMissedJob(value)
      if (!missed) continue
      bytes += encodeLocal(value).length
      const isFull = jobs.length === MAX_PAGE_JOBS || bytes > MAX_PAGE_BYTES
      if (last && isFull) return { jobs, next: last }
      jobs.push(missed)
      last = [Number(key[1]), jid]
    }
    return { jobs }
  }

  /** Remove all expired publications. */
  async expire(): Promise<void> {
    await this.#store.change((records) => forget(records, this.#expired(), Number.POSITIVE_INFINITY))
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  #expired(): KeyRange {
    return { from: ['publication'], to: ['publication', this.#clock.now() - this.#keepMs] }
  }
}

function forget(records: StoreChange, expired: KeyRange, most: number): void {
  let left = most
  for (const key of records.keys(expired)) {
    if (left-- <= 0) return
    records.remove(key)
  }
}
