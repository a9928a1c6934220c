import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
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
import { Batches, batchOf, removeBatch } from './batches.ts'
import { isJid } from './jid.ts'
import { checkJid, type Fields, isFields } from './records.ts'

export interface CachedJob {
  readonly jid: string
  readonly load: Fields
  /** Ids of the minions the job is expected to run on. */
  readonly minions: readonly string[]
}

export interface JobCacheOptions extends StoreOptions {
  readonly clock?: Clock
}

/** What of a return belongs to its transport: new on every attempt, so no part of what is kept or compared. */
const transportFields = ['nonce', 'ts', 'tok', 'sig', '_stamp']
const JOBS_AT_ONCE = 50

/**
 * The master's job cache (`master_job_cache: local_cache`). Keys:
 * `['job', jid]` → `{load, minions}` (no `load` while the jid is only reserved or only has returns),
 * `['ret', jid, id]` → return, `['start', jid, id]` → when it began there, `['unannounced', jid, id]` → since when its
 * event is due, `['age', ms, jid]` → when the job was first heard of, which its expiry goes by
 * (a jid may be proposed by a client and say anything), `['wave', batch, jid]` → a job of that batch; and those of {@link Batches}.
 *
 * Every promise resolves when its change is on disk, and rejects with SaltError STORE_FAILED if it cannot be;
 * INVALID_ARGUMENTS for what is not a jid. Several processes may have it open.
 */
export class JobCache {
  readonly #store: Store
  readonly #clock: Clock
  readonly batches: Batches

  /** The file inside `directory`. */
  static path(directory: string): string {
    return join(directory, 'jobs.mdb')
  }

  static open(directory: string, { clock = systemClock, ...options }: JobCacheOptions = {}): JobCache {
    return new JobCache(openStore(JobCache.path(directory), options), clock)
  }

  private constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
    this.batches = new Batches(store)
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
  async create(jid: string, load: object, minions: readonly string[]): Promise<boolean> {
    checkJid(jid)
    return this.#store.change((records) => {
      if (records.has(['job', jid])) return false
      this.#start(records, jid)
      records.put(['job', jid], { load, minions: [...minions] })
      putWave(records, jid, load)
      return true
    })
  }

  async saveLoad(jid: string, load: object, minions: readonly string[]): Promise<void> {
    checkJid(jid)
    await this.#store.change((records) => {
      const known = readJob(records, jid)
      if (!known) this.#start(records, jid)
      records.put(['job', jid], { load, minions: union(known?.minions ?? [], minions) })
    })
  }

  /** More minions that are expected to answer (from a syndic). */
  async addMinions(jid: string, minions: readonly string[]): Promise<void> {
    checkJid(jid)
    await this.#store.change((records) => {
      const known = readJob(records, jid)
      if (!known) this.#start(records, jid)
      records.put(['job', jid], { ...known, minions: union(known?.minions ?? [], minions) })
    })
  }

  /** The first return of a minion stays; the same again is a duplicate, another one a conflict. */
  async saveReturn(jid: string, id: string, ret: object): Promise<'stored' | 'duplicate' | 'conflict'> {
    checkJid(jid)
    const kept = withoutTransport(ret)
    return this.#store.change((records) => {
      const first = records.get(['ret', jid, id])
      if (first !== undefined) return isSame(first, kept) ? 'duplicate' : 'conflict'
      if (!records.has(['job', jid])) this.#start(records, jid)
      records.put(['ret', jid, id], kept)
      records.put(['unannounced', jid, id], this.#clock.now())
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
    return job?.load && { load: job.load, minions: job.minions }
  }

  /** The jobs of a batch by the same user, but the one that has its jid. */
  waves(jid: string): string[] {
    const user = this.load(jid)?.load.user
    const all = Array.from(this.#store.keys(under('wave', jid)), (key) => String(key[2]))
    return all.filter((wave) => this.load(wave)?.load.user === user)
  }

  /** Returns by minion id. */
  returns(jid: string): Map<string, Fields> {
    const found = new Map<string, Fields>()
    for (const { key, value } of this.#store.entries(under('ret', jid))) {
      if (isFields(value)) found.set(String(key[2]), value)
    }
    return found
  }

  /** One return; undefined if that minion has not returned. */
  return(jid: string, id: string): Fields | undefined {
    const ret = this.#store.get(['ret', jid, id])
    return isFields(ret) ? ret : undefined
  }

  /** Jobs, greatest jid first; with `before` only those with a lesser one. */
  *list({
    limit = Number.POSITIVE_INFINITY,
    before,
  }: {
    limit?: number
    before?: string
  } = {}): Generator<CachedJob> {
    const all = under('job')
    let left = limit
    for (const key of this.#store.keys(before ? { ...all, to: ['job', before] } : all, { reverse: true })) {
      if (left <= 0) return
      const jid = String(key[1])
      const job = this.load(jid)
      if (!job) continue
      left--
      yield { jid, ...job }
    }
  }

  /** Ids of the jobs that {@link expire} would remove. */
  *expiring(olderThan: Date): Generator<string> {
    for (const key of this.#store.keys(agesBefore(olderThan)))
      if (!this.#store.has(['batch-open', String(key[2])])) yield String(key[2])
  }

  /** Remove jobs that were first heard of before `olderThan`, with their returns. Gives how many. */
  async expire(olderThan: Date): Promise<number> {
    const old = agesBefore(olderThan)
    let removed = 0
    for (;;) {
      const count = await this.#store.change((records) => removeJobs(records, old))
      removed += count
      if (count < JOBS_AT_ONCE) return removed
    }
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

  #start(records: StoreChange, jid: string): void {
    records.put(['job', jid], { minions: [] })
    records.put(['age', this.#clock.now(), jid], true)
  }
}

function readJob(
  records: Pick<StoreChange, 'get'>,
  jid: string,
): { load?: Fields; minions: readonly string[] } | undefined {
  const job = records.get(['job', jid])
  if (!isFields(job)) return undefined
  const { load, minions } = job
  return { ...(isFields(load) && { load }), minions: Array.isArray(minions) ? minions.map(String) : [] }
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

function removeJobs(records: StoreChange, old: KeyRange): number {
  let count = 0
  for (const key of records.keys(old)) {
    if (count === JOBS_AT_ONCE) break
    const jid = String(key[2])
    if (!removeBatch(records, jid)) continue
    for (const ret of [...records.keys(under('ret', jid))]) records.remove(ret)
    for (const start of [...records.keys(under('start', jid))]) records.remove(start)
    for (const due of [...records.keys(under('unannounced', jid))]) records.remove(due)
    records.remove(['job', jid])
    records.remove(key)
    count++
  }
  return count
}
