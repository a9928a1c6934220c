import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ListedJob } from '../author/context.ts'
import type { JobQuery } from '../author/master.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { checkJid } from '../base/jid.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import { Outbox, type OutboxItem } from '../outbox/outbox.ts'
import {
  type KeyRange,
  keysUnder,
  openStore,
  type Store,
  type StoreChange,
  type StoreOptions,
} from '../store/index.ts'
import { Batches, isStopped } from './batches.ts'
import { Deliveries, type DeliveryTerms } from './deliveries.ts'
import { importRows } from './job-import.ts'
import { jidCandidates, removeIndex } from './job-index.ts'
import { matchesQuery } from './job-query.ts'
import { type JobRecord, putJob, readJob, startJob, unionOfIds, wavesOf } from './job-record.ts'
import { mayStillRun, removeJobs } from './job-removal.ts'
import { completeIndex } from './job-repair.ts'
import type { JobRow } from './job-transfer.ts'
import { SettledJobs } from './settled-jobs.ts'
import { Unannounced } from './unannounced.ts'

export interface CachedJob extends JobRecord {
  readonly jid: string
  readonly load: Fields
  /** Time of the last return (UTC, ISO 8601), with `job_cache_store_endtime`. */
  readonly endtime?: string
}

export interface JobCacheOptions extends StoreOptions {
  readonly clock?: Clock
  /** Targets of the outbox: external stores that also get every job and return (`master_job_cache`). */
  readonly sinks?: readonly string[]
  /** Targets that get jobs but no returns, which minions write themselves (`ext_job_cache`). */
  readonly loadSinks?: readonly string[]
  /** Called when an item for external stores is on disk. */
  onQueued?(): void
  /** Record the time of the last return of each job (`job_cache_store_endtime`). */
  readonly endTimes?: boolean
}

/** Fields of a return that belong to its transport. They differ in every attempt, so they are neither stored nor compared. */
const transportFields = ['nonce', 'ts', 'tok', 'sig', '_stamp']

/**
 * The master's job cache (`master_job_cache: local_cache`). Keys:
 * `['job', jid]` → `{load, minions, unknown}` (no `load` while the jid is only reserved or only has returns),
 * `['by', field, value, jid]` → jobs by function, target and user, `['ret', jid, id]` → return, `['start', jid, id]` → time
 * at which it began on that minion, `['end', jid]` → time of its last return, `['age', ms, jid]` → time at which the job was
 * first recorded, from which it expires (not by its jid, which a client can choose), `['wave', batch, jid]` → a job of that
 * batch; and those of {@link Unannounced}, {@link SettledJobs}, {@link Batches}, {@link Deliveries} and {@link Outbox}, so that a
 * record and its items for external stores are one commit.
 *
 * Every promise resolves when its change is on disk. It rejects with SaltError STORE_FAILED if that fails, and with
 * INVALID_ARGUMENTS for an invalid jid. Several processes may have the cache open.
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
  readonly deliveries: Deliveries
  readonly outbox: Outbox

  /** Return the path of the file in `directory`. */
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
    this.deliveries = new Deliveries(store)
    this.outbox = new Outbox(store, clock)
  }

  /** Reserve a jid for these minions. Resolves with false if it is reserved already, or a job or a return has it. */
  async reserve(jid: string, minions: readonly string[] = []): Promise<boolean> {
    checkJid(jid)
    return this.#store.change((records) => {
      if (records.has(['job', jid])) return false
      this.#start(records, jid)
      records.put(['job', jid], { minions: [...minions] })
      return true
    })
  }

  /**
   * Reserve a jid and store its job in one commit. Resolves with false if the jid is in use, or if the job is a wave of `batch`
   * and that was stopped.
   */
  async create(
    jid: string,
    load: object,
    minions: readonly string[],
    {
      unknown = [],
      awaits = [],
      deliver,
      batch,
    }: {
      unknown?: readonly string[] | undefined
      awaits?: readonly string[] | undefined
      deliver?: DeliveryTerms | undefined
      batch?: string | undefined
    } = {},
  ): Promise<boolean> {
    checkJid(jid)
    return this.#changeAndNotify((records) => {
      if (records.has(['job', jid]) || (batch !== undefined && isStopped(records, batch))) return false
      this.#start(records, jid)
      if (deliver) Deliveries.add(records, jid, deliver, this.#clock.now())
      const job = { load: load as Fields, minions: [...minions] }
      putJob(records, jid, {
        ...job,
        ...(unknown.length > 0 && { unknown: [...unknown] }),
        ...(awaits.length > 0 && { awaits: [...awaits] }),
      })
      this.#enqueue(records, { kind: 'load', jid, load: load as Fields, minions })
      return true
    })
  }

  async saveLoad(jid: string, load: object, minions: readonly string[]): Promise<void> {
    checkJid(jid)
    await this.#changeAndNotify((records) => {
      const known = readJob(records, jid)
      if (!known) this.#start(records, jid)
      const all = unionOfIds(known?.minions ?? [], minions)
      if (known?.load) removeIndex(records, jid, known.load)
      putJob(records, jid, { ...known, load: load as Fields, minions: all })
      this.#enqueue(records, { kind: 'load', jid, load: load as Fields, minions: all })
    })
  }

  /**
   * Add minions of a syndic that are expected to return. `by` is the syndic, once it has named all of them. Resolves with false
   * if nothing of that is new. Nothing is sent to the masters above then: where masters are above each other, it would circulate.
   */
  async addMinions(
    jid: string,
    minions: readonly string[],
    { unknown = [], by }: { readonly unknown?: readonly string[]; readonly by?: string | undefined } = {},
  ): Promise<boolean> {
    checkJid(jid)
    return this.#changeAndNotify((records) => {
      const known = readJob(records, jid)
      const { awaits = [], ...job } = known ?? { minions: [] }
      const others = awaits.filter((syndic) => syndic !== by)
      const perhaps = unionOfIds(job.unknown ?? [], unknown)
      const all = unionOfIds(job.minions, minions)
      const isKnown = all.length === job.minions.length && perhaps.length === (job.unknown ?? []).length
      if (known && isKnown && others.length === awaits.length) return false
      if (!known) this.#start(records, jid)
      records.put(['job', jid], {
        ...job,
        minions: all,
        ...(perhaps.length > 0 && { unknown: perhaps }),
        ...(others.length > 0 && { awaits: others }),
      })
      this.#enqueue(records, { kind: 'minions', jid, minions })
      return true
    })
  }

  /** Store the first return of a minion. An equal one later is a duplicate, a different one a conflict. */
  async saveReturn(jid: string, id: string, ret: object): Promise<'stored' | 'duplicate' | 'conflict'> {
    checkJid(jid)
    const kept = withoutTransport(ret)
    return this.#changeAndNotify((records) => {
      const first = records.get(['ret', jid, id])
      if (first !== undefined) return isSame(first, kept) ? 'duplicate' : 'conflict'
      if (!records.has(['job', jid])) this.#start(records, jid)
      records.put(['ret', jid, id], kept)
      Deliveries.settle(records, jid, id)
      const now = this.#clock.now()
      Unannounced.put(records, jid, id, now)
      if (this.#endTimes) records.put(['end', jid], now)
      const endtime = this.#endTimes ? { endtime: new Date(now).toISOString() } : {}
      this.#enqueue(records, { kind: 'return', ret: { ...kept, jid, id }, ...endtime })
      return 'stored'
    })
  }

  /** Record that a job has begun on a minion. Ignored if there is no such job. */
  async noteStart(jid: string, id: string): Promise<void> {
    checkJid(jid)
    await this.#store.change((records) => {
      if (!records.has(['job', jid]) || records.has(['start', jid, id])) return
      records.put(['start', jid, id], this.#clock.now())
    })
  }

  /** Return the ids of the minions on which a job has begun. */
  starts(jid: string): Set<string> {
    return new Set([...this.#store.keys(keysUnder('start', jid))].map((key) => String(key[2])))
  }

  /** Whether a job has begun on a minion. */
  hasStarted(jid: string, id: string): boolean {
    return this.#store.has(['start', jid, id])
  }

  /** Return a job; undefined for a jid without a load, even if it is reserved or has returns. */
  load(jid: string): Omit<CachedJob, 'jid'> | undefined {
    const job = readJob(this.#store, jid)
    return job?.load && { ...job, load: job.load, ...this.#endOf(jid) }
  }

  /** Return the record of a jid, even if it has no load. */
  record(jid: string): JobRecord | undefined {
    return readJob(this.#store, jid)
  }

  /** Return the jids of the waves of a batch that have the same user and owner. */
  waves(jid: string): string[] {
    const batch = this.load(jid)?.load
    return wavesOf(this.#store, jid).filter((jid) => {
      const wave = this.load(jid)?.load
      return wave?.user === batch?.user && wave?.owner === batch?.owner
    })
  }

  /** Return all returns of a job by minion id. */
  returns(jid: string): Map<string, Fields> {
    return new Map(this.eachReturn(jid))
  }

  *eachReturn(jid: string): Generator<[id: string, ret: Fields]> {
    for (const { key, value } of this.#store.entries(keysUnder('ret', jid)))
      if (isRecord(value)) yield [String(key[2]), value]
  }

  /** Return the return of one minion; undefined if it has not returned. */
  return(jid: string, id: string): Fields | undefined {
    const ret = this.#store.get(['ret', jid, id])
    return isRecord(ret) ? ret : undefined
  }

  /** Whether a minion has returned, without reading its return, which may be large. */
  hasReturn(jid: string, id: string): boolean {
    return this.#store.has(['ret', jid, id])
  }

  /** List the jobs that match, newest first (by jid). */
  *list(query: JobQuery = {}): Generator<ListedJob> {
    let left = query.limit ?? Number.POSITIVE_INFINITY
    if (left <= 0) return
    for (const jid of jidCandidates(this.#store, query)) {
      const job = this.#store.getLazy(['job', jid]) // does not decode the list of minions, which may be long
      const load = isRecord(job) ? job.load : undefined
      if (!isRecord(load) || !matchesQuery(jid, load, query)) continue
      yield { jid, load, ...this.#endOf(jid) }
      if (--left <= 0) return
    }
  }

  /**
   * Import rows of another job cache. Existing records are kept. No events are fired and nothing is sent to external stores.
   * Resolves with the numbers of new records; their age counts from now.
   */
  async take(rows: readonly JobRow[]): Promise<{ jobs: number; returns: number }> {
    return this.#store.change((records) => importRows(records, rows, this.#clock.now()))
  }

  /** Write a backup, see {@link Store.backup}. */
  backup(path: string): Promise<number> {
    return this.#store.backup(path)
  }

  /** Return the bytes of the file that are in use. The file may be larger, since it keeps free pages. */
  used(): number {
    return this.#store.used()
  }

  /** Build the index of a store that has none, or was repaired. */
  completeIndex(): Promise<void> {
    return completeIndex(this.#store, this.#clock)
  }

  /** Send records of missing returns to external stores, except for minions that have returned. */
  async sendMissing(jid: string, rets: readonly Fields[]): Promise<void> {
    await this.#changeAndNotify((records) => {
      for (const ret of rets)
        if (!records.has(['ret', jid, String(ret.id)])) this.#enqueue(records, { kind: 'return', ret })
    })
  }

  /** Return the time at which the latest job before `moment` was first recorded, in milliseconds. */
  latestBefore(moment: Date): number | undefined {
    for (const key of this.#store.keys(agesBefore(moment), { reverse: true })) return Number(key[1])
    return undefined
  }

  /** List the ids of the jobs that {@link expire} would remove. */
  *expiring(olderThan: Date): Generator<string> {
    for (const key of this.#store.keys(agesBefore(olderThan)))
      if (!this.#store.has(['batch-open', String(key[2])])) yield String(key[2])
  }

  /** Remove jobs that were first recorded before `olderThan`, with their returns. Resolves with their number. */
  async expire(olderThan: Date): Promise<number> {
    let removed = 0
    for await (const _ of removeJobs(this.#store, { ages: agesBefore(olderThan) })) removed++
    return removed
  }

  /**
   * Remove the oldest jobs, with their returns, until no more than `maxBytes` bytes are in use. Jobs are kept if they may still run
   * or have items in the outbox. Yields the ids of the removed jobs.
   */
  async *trim(maxBytes: number): AsyncGenerator<string> {
    const isNeeded = () => this.used() > maxBytes
    if (!isNeeded()) return
    const pendingJids = this.outbox.jids()
    const now = this.#clock.now()
    yield* removeJobs(this.#store, {
      ages: keysUnder('age'),
      isNeeded,
      mustKeep: (records, jid, ms) => pendingJids.has(jid) || mayStillRun(records, jid, ms, now),
    })
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  #enqueue(records: StoreChange, item: OutboxItem): void {
    const targets = item.kind === 'return' ? this.#sinks : this.#loadSinks
    Outbox.put(records, targets, [item], this.#clock.now())
  }

  #endOf(jid: string): Pick<CachedJob, 'endtime'> {
    const end = this.#endTimes ? this.#store.get(['end', jid]) : undefined
    return typeof end === 'number' ? { endtime: new Date(end).toISOString() } : {}
  }

  /** Commit a change that may add items to the outbox, and report that. */
  async #changeAndNotify<T>(change: (records: StoreChange) => T): Promise<T> {
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

/** Whether two returns are equal, in any order of fields. `given` is encoded and decoded first, like a stored one. */
function isSame(stored: unknown, given: unknown): boolean {
  return isDeepStrictEqual(stored, decode(encodeLocal(given)))
}

const agesBefore = (moment: Date): KeyRange => ({ from: ['age'], to: ['age', moment.getTime()] })
