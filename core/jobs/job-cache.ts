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
  type StoreReader,
  under,
} from '../store/index.ts'
import { Batches, batchOf } from './batches.ts'
import { isJid } from './jid.ts'
import { candidates, putIndex, removeIndex } from './job-index.ts'
import { matchesQuery } from './job-query.ts'
import { isUnderWay, removeJobs } from './job-removal.ts'
import { completeIndex } from './job-repair.ts'
import type { JobRow } from './job-transfer.ts'
import { Outbox, type Parcel } from './outbox.ts'
import { checkJid, type Fields, isFields } from './records.ts'

export interface CachedJob {
  readonly jid: string
  readonly load: Fields
  /** Ids of the minions the job is expected to run on. */
  readonly minions: readonly string[]
  /** Which of them are perhaps not meant, if any. */
  readonly unknown?: readonly string[]
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

/** In the record of its age: of a job that was imported there is nothing to tell. */
const TAKEN = 'taken'

/** What of a return belongs to its transport: new on every attempt, so no part of what is kept or compared. */
const transportFields = ['nonce', 'ts', 'tok', 'sig', '_stamp']

/**
 * The master's job cache (`master_job_cache: local_cache`). Keys:
 * `['job', jid]` → `{load, minions, unknown}` (no `load` while the jid is only reserved or only has returns),
 * `['by', field, value, jid]` → jobs by function, target and user, `['ret', jid, id]` → return, `['start', jid, id]` → when it
 * began there, `['unannounced', jid, id]` → since when its event is due, `['end', jid]` → when its last return came,
 * `['age', ms, jid]` → when the job was first heard of, which its expiry goes by (a jid may be proposed by a client and say
 * anything), `['settled']` → until when {@link sendMissing} was told of jobs, `['untold', jid]` of those before that it could
 * not be told of yet, `['wave', batch, jid]` → a job of that batch; and those of {@link Batches} and
 * {@link Outbox}: what is stored and what is to be sent outside is one commit.
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
    this.batches = new Batches(store)
    this.outbox = new Outbox(store, clock)
  }

  /** Take a jid. False if any process has taken it, or if a job or a return has it. */
  async reserve(jid: string): Promise<boolean> {
    checkJid(jid)
    return this.#store.change((records) => {
      if (records.has(['job', jid])) return false
      this.#start(records, jid)
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
      records.put(['job', jid], {
        ...{ load, minions: [...minions] },
        ...(unknown.length > 0 && { unknown: [...unknown] }),
      })
      putIndex(records, jid, load as Fields)
      putWave(records, jid, load)
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
      records.put(['job', jid], { ...known, load, minions: all })
      if (known?.load) removeIndex(records, jid, known.load)
      putIndex(records, jid, load as Fields)
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
      records.put(['unannounced', jid, id], now)
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

  /** The event of a return that was stored has been fired. */
  announced(jid: string, id: string): Promise<void> {
    return this.#store.remove(['unannounced', jid, id])
  }

  /**
   * A return that was stored before `moment` (milliseconds) and not announced since: who stored it has died over it.
   * It is the caller's for as long as a moment is ago; others are given another one.
   */
  async takeUnannounced(moment: number): Promise<{ jid: string; id: string; ret: Fields } | undefined> {
    if (!this.#unannounced(this.#store, moment)) return undefined
    return this.#store.change((records) => {
      const found = this.#unannounced(records, moment)
      if (found) records.put(['unannounced', found.jid, found.id], this.#clock.now())
      return found
    })
  }

  /** Undefined for a jid without a job, also if it is reserved or has returns. */
  load(jid: string): Omit<CachedJob, 'jid'> | undefined {
    const job = readJob(this.#store, jid)
    return job?.load && { ...job, load: job.load, ...this.#endOf(jid) }
  }

  /** The jobs of a batch by the same user, but the one that has its jid. */
  waves(jid: string): string[] {
    const user = this.load(jid)?.load.user
    const all = Array.from(this.#store.keys(under('wave', jid)), (key) => String(key[2]))
    return all.filter((wave) => this.load(wave)?.load.user === user)
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
    return this.#store.change((records) => {
      const taken = { jobs: 0, returns: 0 }
      for (const row of rows) {
        if (!records.has(['job', row.jid])) this.#start(records, row.jid, TAKEN)
        if (row.kind === 'return') {
          if (records.has(['ret', row.jid, row.id])) continue
          records.put(['ret', row.jid, row.id], row.ret)
          taken.returns++
        } else {
          const { jid, load, unknown } = row
          const known = readJob(records, jid)
          if (known?.load) continue
          const minions = union(known?.minions ?? [], row.minions)
          records.put(['job', jid], { load, minions, ...(unknown && { unknown }) })
          putIndex(records, jid, load)
          putWave(records, jid, load)
          taken.jobs++
        }
      }
      return taken
    })
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

  /** Ids of the jobs that were first heard of before a moment (milliseconds) and are not {@link settled}. */
  unsettled(moment: number): string[] {
    const since = Number(this.#store.get(['settled']) ?? 0)
    const due = this.#store.entries({ from: ['age', since], to: ['age', moment] })
    return [
      ...Array.from(this.#store.keys(under('untold')), (key) => String(key[1])),
      ...[...due].filter(({ value }) => value !== TAKEN).map(({ key }) => String(key[2])),
    ]
  }

  /** What is to be said of minions that did not return was said of all jobs before that moment, but these. */
  async settled(moment: number, untold: readonly string[] = []): Promise<void> {
    await this.#store.change((records) => {
      for (const key of [...records.keys(under('untold'))]) records.remove(key)
      for (const jid of untold) records.put(['untold', jid], true)
      records.put(['settled'], moment)
    })
  }

  /** Tell the stores outside of minions that have not returned. Of one that has, nothing is told. */
  async sendMissing(jid: string, rets: readonly Fields[]): Promise<void> {
    await this.#tell((records) => {
      for (const ret of rets)
        if (!records.has(['ret', jid, String(ret.id)])) this.#send(records, { kind: 'return', ret })
    })
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

  #unannounced(records: StoreReader, moment: number) {
    for (const { key, value } of records.entries(under('unannounced'))) {
      const [jid, id] = [String(key[1]), String(key[2])]
      const ret = Number(value) < moment ? records.get(['ret', jid, id]) : undefined
      if (isFields(ret)) return { jid, id, ret: ret as Fields }
    }
    return undefined
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

  #start(records: StoreChange, jid: string, how: true | typeof TAKEN = true): void {
    records.put(['job', jid], { minions: [] })
    records.put(['age', this.#clock.now(), jid], how)
  }
}

function readJob(
  records: Pick<StoreChange, 'get'>,
  jid: string,
): (Omit<CachedJob, 'jid' | 'load'> & { load?: Fields }) | undefined {
  const job = records.get(['job', jid])
  if (!isFields(job)) return undefined
  const { load, minions, unknown } = job
  return {
    ...(isFields(load) && { load }),
    minions: Array.isArray(minions) ? minions.map(String) : [],
    ...(Array.isArray(unknown) && { unknown: unknown.map(String) }),
  }
}

function union(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first, ...second])]
}

function withoutTransport(ret: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(ret).filter(([field]) => !transportFields.includes(field)))
}

/** Whatever the order of their fields. `given` is compared as it would be read back. */
function isSame(stored: unknown, given: unknown): boolean {
  return isDeepStrictEqual(stored, decode(encodeLocal(given)))
}

const agesBefore = (moment: Date): KeyRange => ({ from: ['age'], to: ['age', moment.getTime()] })

/** Only a jid can be looked up as a batch. */
function putWave(records: StoreChange, jid: string, load: object): void {
  const batch = batchOf(jid, load)
  if (batch !== undefined && isJid(batch)) records.put(['wave', batch, jid], true)
}
