import { join } from 'node:path'
import { sizeText } from '../base/byte-size.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { SaltError } from '../base/errors.ts'
import { encodeLocal } from '../codec/index.ts'
import { jobCacheDirectory } from '../config/cachedir.ts'
import type { MasterConfig } from '../config/index.ts'
import {
  type KeyRange,
  keysUnder,
  openStore,
  type Store,
  type StoreChange,
  type StoreKey,
  type StoreOptions,
} from '../store/index.ts'
import {
  type MissedJob,
  type MissedJobs,
  makeMissedJob,
  type PublicationPosition,
  readMissedJob,
} from '../wire/missed-jobs.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { RawArguments } from '../wire/raw-arguments.ts'
import type { WaitingFor } from './deliveries.ts'
import { JobsElsewhere } from './jobs-elsewhere.ts'

/** Limits of a page of {@link Publications.page}. */
const MAX_PAGE_JOBS = 100
const MAX_PAGE_BYTES = 2 ** 20
/**
 * A publication from further in the future was stored before the clock was set back. It must not be given to minions again,
 * perhaps a day later.
 */
const MAX_CLOCK_STEP_MS = 300_000
/** Maximum number of expired publications that are removed with each new one. */
const FORGET_AT_ONCE = 5

/** Limits the jobs that wait for minions (`deliver_within`): their number, and the bytes of the whole store. */
const MAX_WAITING_JOBS = 1_000
const MAX_WAITING_BYTES = 2 ** 29
const CANCEL_SOME =
  'Nothing was published. Cancel some (salt-run jobs.waiting, jobs.cancel), or send this one without deliver_within.'

/** A job in the store, and when it was published. */
interface Kept extends WaitingFor {
  readonly key: StoreKey
}

/**
 * Jobs as they were published, for minions that were not connected. Keys: `['publication', ms, jid]` → {@link MissedJob} for the
 * latest jobs, which are removed after `missed_jobs_seconds`; `['waiting', jid]` for jobs that wait for minions
 * (`deliver_within`), which are removed once no minion may take them; and those of {@link JobsElsewhere} for jobs of other
 * masters of a cluster. The jobs contain secrets, so they are in a separate store that no backup includes. Several processes may
 * have the store open.
 */
export class Publications {
  readonly #store: Store
  readonly #clock: Clock
  readonly #keepMs: number
  /** Jobs of other masters of a cluster, in the same store. */
  readonly elsewhere: JobsElsewhere

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
    this.elsewhere = new JobsElsewhere(store)
  }

  /**
   * Store a job. Resolves when it is on disk, so that it may be published. Rejects with STORE_FAILED if it cannot be stored, or
   * if it waits for minions and too many jobs already do.
   */
  async put(job: JobLoad, words?: RawArguments): Promise<void> {
    const waits = job.deliver_until !== undefined
    if (this.#keepMs === 0 && !waits) return
    const full = waits && !this.#store.has(['waiting', job.jid]) ? this.whyFull() : undefined
    if (full !== undefined) throw new SaltError('STORE_FAILED', full)
    await this.#store.change((records) => {
      forget(records, this.#expired(), FORGET_AT_ONCE)
      const key = waits ? ['waiting', job.jid] : ['publication', this.#clock.now(), job.jid]
      records.put(key, makeMissedJob({ job, words }))
    })
  }

  /** Return why no further job can wait for minions, as a sentence; undefined if one can. */
  whyFull(): string | undefined {
    if (this.#store.count(keysUnder('waiting')) >= MAX_WAITING_JOBS)
      return `${MAX_WAITING_JOBS} jobs wait for minions already, which is the most. ${CANCEL_SOME}`
    if (this.#store.used() < MAX_WAITING_BYTES) return undefined
    return `The jobs that wait for minions take ${sizeText(this.#store.used())} on disk; no more are kept. ${CANCEL_SOME}`
  }

  /** Return the ids of the jobs that are kept for minions. */
  waiting(): Set<string> {
    return new Set(Array.from(this.#store.keys(keysUnder('waiting')), (key) => String(key[1])))
  }

  /** Return a job that is kept for minions. */
  waitingJob(jid: string): MissedJob | undefined {
    return readMissedJob(this.#store.get(['waiting', jid]))
  }

  /** Remove a job that was kept for minions. */
  async remove(jid: string): Promise<void> {
    await this.#store.remove(['waiting', jid])
  }

  /**
   * Return one page of jobs for a minion, oldest first: the latest jobs that `isWanted` selects by jid and time of publication
   * (milliseconds since 1970), and the jobs that wait for the minion, published here or `elsewhere`.
   */
  page(
    isWanted: (jid: string, at: number) => boolean,
    { here = [], elsewhere = [] }: Partial<Record<'here' | 'elsewhere', readonly WaitingFor[]>> = {},
    after?: PublicationPosition,
  ): MissedJobs {
    const jobs: MissedJob[] = []
    let bytes = 0
    let last: PublicationPosition | undefined
    const waiting = [
      ...here.map((one): Kept => ({ ...one, key: ['waiting', one.jid] })),
      ...elsewhere.map((one): Kept => ({ ...one, key: ['elsewhere', one.jid] })),
    ]
    for (const { key, at, jid } of this.#inOrder(waiting, after)) {
      if (key[0] === 'publication' && !isWanted(jid, at)) continue
      const value = this.#store.get(key)
      const missed = readMissedJob(value)
      if (!missed) continue
      bytes += encodeLocal(value).length
      const isFull = jobs.length === MAX_PAGE_JOBS || bytes > MAX_PAGE_BYTES
      if (last && isFull) return { jobs, next: last }
      jobs.push(missed)
      last = [at, jid]
    }
    return { jobs }
  }

  /** List the keys of the latest jobs and the waiting ones after a position, in the order of their publication. */
  #inOrder(waiting: readonly Kept[], [at, jid]: PublicationPosition = [0, '']): Kept[] {
    const now = this.#clock.now()
    const from = ['publication', ...(at >= now - this.#keepMs ? [at, jid] : [now - this.#keepMs])]
    const latest = this.#store.keys({ from, to: ['publication', now + MAX_CLOCK_STEP_MS] })
    const kept = [
      ...Array.from(latest, (key): Kept => ({ key, at: Number(key[1]), jid: String(key[2]) })),
      ...waiting,
    ]
    const isAfter = (one: Kept) => one.at > at || (one.at === at && one.jid > jid)
    return kept.filter(isAfter).sort((a, b) => a.at - b.at || (a.jid < b.jid ? -1 : 1))
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

function forget(records: StoreChange, expired: KeyRange, max: number): void {
  let left = max
  for (const key of records.keys(expired)) {
    if (left-- <= 0) return
    records.remove(key)
  }
}
