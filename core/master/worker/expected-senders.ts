import { existsSync } from 'node:fs'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { cachedMinions } from '../../cache/cached-minions.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import type { JobRecord } from '../../jobs/job-record.ts'
import { runPath } from '../../runs/running-runs.ts'
import type { WorkerContext } from './context.ts'
import type { SharedJobs } from './shared-jobs.ts'

type Load = Readonly<Record<string, unknown>>

type Settings = Pick<WorkerContext, 'config' | 'log' | 'matcher' | 'meter' | 'minions'> & {
  readonly jobs: Pick<JobCache, 'record'>
  /** Jobs of other masters, in a cluster. */
  readonly shared?: SharedJobs | undefined
}

/** Limits the cached minion ids of all jobs together. */
const MAX_IDS = 50_000
/** Log about the same minion at most this often. */
const LOG_INTERVAL_MS = 3_600_000

/**
 * Decides which minions may send returns and events for a job: those it was sent to. A job that this master does not know
 * is open to all minions: it may have expired, or come from another master of the minion or from the minion itself. For returns, the
 * jobs of other masters of a cluster are looked up in the store that they share.
 */
export class ExpectedSenders {
  readonly #settings: Settings
  /** Minions by jid, the oldest entry first. */
  readonly #known = new Map<string, ReadonlySet<string>>()
  #ids = 0
  readonly #warn: (sentence: string, about: string) => void

  constructor(settings: Settings) {
    this.#settings = settings
    this.#warn = onceInAWhile((sentence) => settings.log.warn(sentence), LOG_INTERVAL_MS)
  }

  /** Whether a minion may send for a job. A refusal is counted, and logged once in a while for each minion. */
  admits(jid: string, id: string): boolean {
    if (this.#known.get(jid)?.has(id) || this.#isExpected(jid, id)) return true
    this.#settings.meter?.count('salt_master_returns_refused', [])
    this.#warn(
      `${id} sent a return or an event for job ${jid}, which was not sent to it. It is dropped, like all others that it sends for jobs of other minions.`,
      id,
    )
    return false
  }

  /** As {@link admits}, for a return: a job that is not known here is looked up first. Rejects with NotAcknowledged if the minion is to send it again. */
  async admitsReturn(jid: string, id: string): Promise<boolean> {
    const { shared, jobs, config } = this.#settings
    const isHere = () => isPublished(jobs.record(jid)) || existsSync(runPath(config, jid))
    if (shared && !this.#known.has(jid) && !isHere()) await shared.find(jid, id)
    return this.admits(jid, id)
  }

  /** Whether the job was stored as one for this minion. */
  wasSentTo(jid: string, id: string): boolean {
    const known = this.#known.get(jid) ?? this.#remember(jid, this.#settings.jobs.record(jid)?.minions ?? [])
    return known.has(id)
  }

  #isExpected(jid: string, id: string): boolean {
    const job = this.#jobOf(jid)
    if (!job) return !existsSync(runPath(this.#settings.config, jid))
    const { load, ids } = job
    if (load && RUN.test(String(load.fun))) return false
    return ids.has(id) || (load !== undefined && this.#matchesNow(load, id))
  }

  /**
   * Return the load of a job and the minions that it was sent to. The job is one of this master, or one of another master that
   * was looked up; undefined for other jobs.
   */
  #jobOf(jid: string): { readonly load: Load | undefined; readonly ids: ReadonlySet<string> } | undefined {
    const record = this.#settings.jobs.record(jid)
    if (isPublished(record)) return { load: record.load, ids: this.#remember(jid, record.minions) }
    const shared = this.#settings.shared?.get(jid)
    return shared && { load: shared.load, ids: shared.minions }
  }

  /** Whether the target matches the minion now: its key may have been accepted, or its grains changed, since the job was published. */
  #matchesNow({ tgt, tgt_type, delimiter }: Load, id: string): boolean {
    const { matcher, minions } = this.#settings
    const target = {
      tgt,
      tgt_type: String(tgt_type ?? 'glob'),
      ...(typeof delimiter === 'string' && { delimiter }),
    }
    return [...cachedMinions([id], minions)].every((subject) => matcher.match(target, subject) !== false)
  }

  #remember(jid: string, minions: readonly string[]): ReadonlySet<string> {
    this.#forget(jid)
    const ids = new Set(minions)
    if (ids.size === 0) return ids
    this.#known.set(jid, ids)
    this.#ids += ids.size
    for (const oldest of this.#known.keys()) {
      if (this.#ids <= MAX_IDS || oldest === jid) break
      this.#forget(oldest)
    }
    return ids
  }

  #forget(jid: string): void {
    this.#ids -= this.#known.get(jid)?.size ?? 0
    this.#known.delete(jid)
  }
}

/** Whether a record is that of a job, rather than of a reserved jid, or of returns alone. */
const isPublished = (record: JobRecord | undefined): record is JobRecord =>
  record !== undefined && (record.load !== undefined || record.minions.length > 0)

/** Functions that run on the master itself. */
const RUN = /^(?:runner|wheel)\./
