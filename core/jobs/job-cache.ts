import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ListedJob } from '../author/context.ts'
import type { JobQuery } from '../author/master.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import {
  type KeyRange,
  openStore,
  type Store,
  type StoreChange,
  type StoreOptions,
  under,
} from '../store/index.ts'
import { Batches } from './batches.ts'
import { importRows } from './job-import.ts'
import { candidates, removeIndex } from './job-index.ts'
import { matchesQuery } from './job-query.ts'
import { type JobRecord, putJob, readJob, startJob, union, wavesOf } from './job-record.ts'
import { isUnderWay, removeJobs } from './job-removal.ts'
import { completeIndex } from './job-repair.ts'
import type { JobRow } from './job-transfer.ts'
import { Outbox, type Parcel } from './outbox.ts'
import { checkJid, type Fields, isFields } from './records.ts'
import { SettledJobs } from './settled-jobs.ts'
import { Unannounced } from './unannounced.ts'

export interface CachedJob extends JobRecord {
  readonly jid: string
  readonly load: Fields
  /** When the last return came, in UTC, ISO 8601, if that is kept. */
  readonly endtime?: string
}

export interface JobCacheOptions extends StoreOptions {
  readonly clock?: Clock
  /** Targets of the outbox: stores outside that get every job and return, too (`master_job_cache`). */
  readonly sinks?: readonly string[]
  /** Those that get every job only: minions write the returns (`ext_job_cache`). */
  readonly loadSinks?: readonly string[]
  /** Told when something for stores outside is on disk. */
  onQueued?(): void
  /** Keep when the last return of a job came (`job_cache_store_endtime`). */
  readonly endTimes?: boolean
}

/** What of a return belongs to its transport: new on every attempt, so no part of what is kept or compared. */
const transportFields = ['nonce', 'ts', 'tok', 'sig', '_stamp']

/**
 * The master's job cache (`master_job_cache: local_cache`). Keys:
 * `['job', jid]` → `{load, minions, unknown}` (no `load` while the jid is only reserved or only has returns),
 * `['by', field, value, jid]` → jobs by function, target and user, `['ret', jid, id]` → return, `['start', jid, id]` → when it
 * began there, `['end', jid]` → when its last return came, `['age', ms, jid]` → when the job was first heard of, which its
 * expiry goes by (a jid may be proposed by a client and say anything), `['wave', batch, jid]` → a job of that batch; and
 * those of {@link Unannounced}, {@link SettledJobs}, {@link Batches} and {@link Outbox}: what is stored and what is to be
 * sent outside is one commit.
 *
 * Every promise resolves when its change is on disk, and rejects with SaltError STORE_FAILED if it cannot be;
 * INVALID_ARGUMENTS for what is not a jid. Several processes may have it open.
 */
export class JobCache {
  readonly #store: Store
  readonly #clock: Clock
  readonly #sinks: readonly string[]
  readonly #loadSinks: readonly string[]
  readonly #onQueued: () => void
  readonly #endTimes: boolean
  readonly unannounced: Unannounced
  readonly settled: SettledJobs
  readonly batches: Batches
  readonly outbox: Outbox

  /** The file inside `directory`. */
  static path(directory: string): string {
    return join(directory, 'jobs.mdb')
  }

  static open(directory: string, options: JobCacheOptions = {}): JobCache {
    return new JobCache(openStore(JobCache.path(directory), options), options)
  }

  private constructor(store: Store, options: JobCacheOptions) {
    const { clock = systemClock, sinks = [], loadSinks = [], onQueued = () => {}, endTimes = false } = options
    this.#store = store
    this.#clock = clock
    this.#sinks = sinks
    this.#loadSinks = [...new Set([...sinks, ...loadSinks])]
    this.#onQueued = onQueued
    this.#endTimes = endTimes
    this.unannounced = new Unannounced(store, clock)
    this.settled = new SettledJobs(store)
    this.batches = new Batches(store)
    this.outbox = new Outbox(store, clock)
  }

  /** Take a jid, for these minions. False if any process has taken it, or if a job or a return has it. */
  async reserve(jid: string, minions: readonly string[] = []): Promise<boolean> {
    checkJid(jid)
    return this.#store.change((records) => {
      if (records.has(['job', jid])) return false
      this.#start(records, jid)
      records.put(['job', jid], { minions: [...minions] })
      return true
    })
  }

  /** Take a jid and store its job in one commit. False if the jid is taken. */
  async create(
    jid: string,
    load: object,
    minions: readonly string[],
    unknown: readonly string[] = [],
  ): Promise<boolean> {
    checkJid(jid)
    return this.#tell((records) => {
      if (records.has(['job', jid])) return false
      this.#start(records, jid)
      const job = { load: load as Fields, minions: [...minions] }
      putJob(records, jid, { ...job, ...(unknown.length > 0 && { unknown: [...unknown] }) })
      this.#send(records, { kind: 'load', jid, load: load as Fields, minions })
      return true
    })
  }

  async saveLoad(jid: string, load: object, minions: readonly string[]): Promise<void> {
    checkJid(jid)
    await this.#tell((records) => {
      const known = readJob(records, jid)
      if (!known) this.#start(records, jid)
      const all = union(known?.minions ?? [], minions)
      if (known?.load) removeIndex(records, jid, known.load)
      putJob(records, jid, { ...known, load: load as Fields, minions: all })
      this.#send(records, { kind: 'load', jid, load: load as Fields, minions: all })
    })
  }

  /** More minions that are expected to answer (from a syndic). */
  async addMinions(jid: string, minions: readonly string[]): Promise<void> {
    checkJid(jid)
    await this.#tell((records) => {
      const known = readJob(records, jid)
      if (!known) this.#start(records, jid)
      records.put(['job', jid], { ...known, minions: union(known?.minions ?? [], minions) })
      this.#send(records, { kind: 'minions', jid, minions })
    })
  }

  /** The first return of a minion stays; the same again is a duplicate, another one a conflict. */
  async saveReturn(jid: string, id: string, ret: object): Promise<'stored' | 'duplicate' | 'conflict'> {
    checkJid(jid)
    const kept = withoutTransport(ret)
    return this.#tell((records) => {
      const first = records.get(['ret', jid, id])
      if (first !== undefined) return isSame(first, kept) ? 'duplicate' : 'conflict'
      if (!records.has(['job', jid])) this.#start(records, jid)
      records.put(['ret', jid, id], kept)
      const now = this.#clock.now()
      Unannounced.put(records, jid, id, now)
      if (this.#endTimes) records.put(['end', jid], now)
      const endtime = this.#endTimes ? { endtime: new Date(now).toISOString() } : {}
      this.#send(records, { kind: 'return', ret: { ...kept, jid, id }, ...endtime })
      return 'stored'
    })
  }

  /** A minion says that the job has begun there. Nothing is kept where there is no such job. */
  async noteStart(jid: string, id: string): Promise<void> {
    checkJid(jid)
    await this.#store.change((records) => {
      if (!records.has(['job', jid]) || records.has(['start', jid, id])) return
      records.put(['start', jid, id], this.#clock.now())
    })
  }

  /** Ids of the minions that have said so. */
  starts(jid: string): Set<string> {
    return new Set([...this.#store.keys(under('start', jid))].map((key) => String(key[2])))
  }

  /** Undefined for a jid without a job, also if it is reserved or has returns. */
  load(jid: string): Omit<CachedJob, 'jid'> | undefined {
    const job = readJob(this.#store, jid)
    return job?.load && { ...job, load: job.load, ...this.#endOf(jid) }
  }

  /** What there is of a jid, also where that is no job. */
  record(jid: string): JobRecord | undefined {
    return readJob(this.#store, jid)
  }

  /** The jobs of a batch by the same owner, but the one that has its jid. */
  waves(jid: string): string[] {
    const batch = this.load(jid)?.load
    return wavesOf(this.#store, jid).filter((jid) => {
      const wave = this.load(jid)?.load
      return wave?.user === batch?.user && wave?.owner === batch?.owner
    })
  }

  /** Returns by minion id. */
  returns(jid: string): Map<string, Fields> {
    return new Map(this.eachReturn(jid))
  }

  *eachReturn(jid: string): Generator<[id: string, ret: Fields]> {
    for (const { key, value } of this.#store.entries(under('ret', jid)))
      if (isFields(value)) yield [String(key[2]), value]
  }

  /** One return; undefined if that minion has not returned. */
  return(jid: string, id: string): Fields | undefined {
    const ret = this.#store.get(['ret', jid, id])
    return isFields(ret) ? ret : undefined
  }

  /** Jobs that fit, greatest jid first. */
  *list(query: JobQuery = {}): Generator<ListedJob> {
    let left = query.limit ?? Number.POSITIVE_INFINITY
    if (left <= 0) return
    for (const jid of candidates(this.#store, query)) {
      const job = this.#store.glance(['job', jid]) // of its minions there may be many
      const load = isFields(job) ? job.load : undefined
      if (!isFields(load) || !matchesQuery(jid, load, query)) continue
      yield { jid, load, ...this.#endOf(jid) }
      if (--left <= 0) return
    }
  }

  /**
   * Take over what another job cache had: what is here stays. Nothing is announced, or told to stores outside. Gives how
   * many were new; their age counts from now.
   */
  async take(rows: readonly JobRow[]): Promise<{ jobs: number; returns: number }> {
    return this.#store.change((records) => importRows(records, rows, this.#clock.now()))
  }

  /** See {@link Store.backup}. */
  backup(path: string): Promise<number> {
    return this.#store.backup(path)
  }

  /** Bytes of the file that are in use: it keeps pages that are not. */
  used(): number {
    return this.#store.used()
  }

  /** Jobs of a store that was made before there was an index are put into it; what a repair has left is made whole. */
  completeIndex(): Promise<void> {
    return completeIndex(this.#store, this.#clock)
  }

  /** Tell the stores outside of minions that have not returned. Of one that has, nothing is told. */
  async sendMissing(jid: string, rets: readonly Fields[]): Promise<void> {
    await this.#tell((records) => {
      for (const ret of rets)
        if (!records.has(['ret', jid, String(ret.id)])) this.#send(records, { kind: 'return', ret })
    })
  }

  /** When the latest job before this moment was first heard of, in milliseconds. */
  latestBefore(moment: Date): number | undefined {
    for (const key of this.#store.keys(agesBefore(moment), { reverse: true })) return Number(key[1])
    return undefined
  }

  /** Ids of the jobs that {@link expire} would remove. */
  *expiring(olderThan: Date): Generator<string> {
    for (const key of this.#store.keys(agesBefore(olderThan)))
      if (!this.#store.has(['batch-open', String(key[2])])) yield String(key[2])
  }

  /** Remove jobs that were first heard of before `olderThan`, with their returns. Gives how many. */
  async expire(olderThan: Date): Promise<number> {
    let removed = 0
    for await (const _ of removeJobs(this.#store, { ages: agesBefore(olderThan) })) removed++
    return removed
  }

  /**
   * Remove the oldest jobs, with their returns, until no more than `most` bytes are in use. Those that may still run stay,
   * and those of which something is on its way to a store outside. Gives the ids of those that went.
   */
  async *trim(most: number): AsyncGenerator<string> {
    const goOn = () => this.used() > most
    if (!goOn()) return
    const owed = this.outbox.jids()
    const now = this.#clock.now()
    yield* removeJobs(this.#store, {
      ages: under('age'),
      goOn,
      spare: (records, jid, ms) => owed.has(jid) || isUnderWay(records, jid, ms, now),
    })
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  #send(records: StoreChange, parcel: Parcel): void {
    const targets = parcel.kind === 'return' ? this.#sinks : this.#loadSinks
    Outbox.put(records, targets, [parcel], this.#clock.now())
  }

  #endOf(jid: string): Pick<CachedJob, 'endtime'> {
    const end = this.#endTimes ? this.#store.get(['end', jid]) : undefined
    return typeof end === 'number' ? { endtime: new Date(end).toISOString() } : {}
  }

  /** A change that may have something for stores outside. */
  async #tell<T>(change: (records: StoreChange) => T): Promise<T> {
    const result = await this.#store.change(change)
    if (this.#loadSinks.length > 0) this.#onQueued()
    return result
  }

  #start(records: StoreChange, jid: string): void {
    startJob(records, jid, this.#clock.now())
  }
}

function withoutTransport(ret: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(ret).filter(([field]) => !transportFields.includes(field)))
}

/** Whatever the order of their fields. `given` is compared as it would be read back. */
function isSame(stored: unknown, given: unknown): boolean {
  return isDeepStrictEqual(stored, decode(encodeLocal(given)))
}

const agesBefore = (moment: Date): KeyRange => ({ from: ['age'], to: ['age', moment.getTime()] })
