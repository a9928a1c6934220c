import { join } from 'node:path'
import { sizeText } from '../base/byte-size.ts'
import { type Clock, systemClock } from '../base/clock.ts'
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

/** Limits of a page of {@link Publications.page}. */
const MAX_PAGE_JOBS = 100
const MAX_PAGE_BYTES = 2 ** 20
/** A publication from further in the future was stored before the clock was set back: it is not given again a day later. */
const MAX_CLOCK_STEP_MS = 300_000
/** Maximum number of expired publications that are removed with each new one. */
const FORGET_AT_ONCE = 5

/** Limits the jobs that wait for minions (`deliver_within`): their number, and the bytes of the whole store. */
const MAX_WAITING_JOBS = 1_000
const MAX_WAITING_BYTES = 2 ** 29

/**
 * Jobs as they were published, for minions that were not connected then: the latest ones under `['publication', ms, jid]` →
 * {@link MissedJob}, removed after `missed_jobs_seconds`, and those that wait for minions (`deliver_within`) under
 * `['waiting', ms, jid]`, removed once no minion may take them. They have a store of their own, which no backup contains, since
 * they contain secrets. Several processes may have the store open.
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
    const waits = job.deliver_until !== undefined
    if (this.#keepMs === 0 && !waits) return
    await this.#store.change((records) => {
      forget(records, this.#expired(), FORGET_AT_ONCE)
      const kind = waits ? 'waiting' : 'publication'
      records.put([kind, this.#clock.now(), job.jid], makeMissedJob({ job, words }))
    })
  }

  /** Return why no further job can wait for minions, as a sentence; undefined if one can. */
  whyFull(): string | undefined {
    const [count, bytes] = [this.#store.count(keysUnder('waiting')), this.#store.used()]
    if (count < MAX_WAITING_JOBS && bytes < MAX_WAITING_BYTES) return undefined
    return `${count} jobs (${sizeText(bytes)}) wait for minions already; at most ${MAX_WAITING_JOBS} jobs and ${sizeText(MAX_WAITING_BYTES)} may. List them with salt-run jobs.waiting.`
  }

  /** Return the ids of the jobs that wait for minions. */
  waiting(): Set<string> {
    return new Set(Array.from(this.#store.keys(keysUnder('waiting')), (key) => String(key[2])))
  }

  /** Remove a job that waits for minions. */
  async remove(jid: string): Promise<void> {
    await this.#store.change((records) => {
      for (const key of [...records.keys(keysUnder('waiting'))]) if (key[2] === jid) records.remove(key)
    })
  }

  /** Return the jobs that `isWanted` selects by their jid, oldest first, one page of them. */
  page(isWanted: (jid: string) => boolean, after?: PublicationPosition): MissedJobs {
    const jobs: MissedJob[] = []
    const now = this.#clock.now()
    const oldest = now - this.#keepMs
    let bytes = 0
    let last: PublicationPosition | undefined
    for (const key of this.#keys(after ?? [0, ''], oldest, now + MAX_CLOCK_STEP_MS)) {
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

  /** Yield the keys of all jobs from a position on, in the order of their publication; of the latest ones those from `oldest` to `newest`. */
  *#keys([at, jid]: PublicationPosition, oldest: number, newest: number): Generator<StoreKey> {
    const latest = at >= oldest ? ['publication', at, jid] : ['publication', oldest]
    const ranges = [
      { from: latest, to: ['publication', newest] },
      { from: ['waiting', at, jid], to: keysUnder('waiting').to },
    ]
    const lists = ranges.map((range) => this.#store.keys(range)[Symbol.iterator]())
    const heads = lists.map((list) => list.next())
    for (;;) {
      const open = heads.flatMap((head, index) => (head.done ? [] : [{ key: head.value, index }]))
      const [first, second] = open
      if (!first) return
      const next = second && Number(second.key[1]) < Number(first.key[1]) ? second : first
      yield next.key
      heads[next.index] = (lists[next.index] as Iterator<StoreKey>).next()
    }
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
