import { existsSync } from 'node:fs'
import { seldom } from '../base/seldom.ts'
import { cachedMinions } from '../jobs/cached-minions.ts'
import type { CachedJob, JobCache } from '../jobs/job-cache.ts'
import { runPath } from '../jobs/running-runs.ts'
import type { WorkerRoom } from './room.ts'

type Settings = Pick<WorkerRoom, 'config' | 'log' | 'matcher' | 'meter' | 'minions'> & {
  readonly jobs: Pick<JobCache, 'record'>
}

/** Ids that are remembered, of all jobs together. */
const MOST_IDS = 50_000
/** Each minion is named at most so often. */
const TOLD_MS = 3_600_000

/**
 * Which minions may return for a job, or tell of it: those it was sent to. Of a job that this master does not know nobody
 * can say: it has expired, another master of the minion published it, or the minion made it by itself.
 */
export class ExpectedSenders {
  readonly #settings: Settings
  /** By jid, the oldest first. */
  readonly #known = new Map<string, ReadonlySet<string>>()
  #ids = 0
  readonly #tell: (sentence: string, about: string) => void

  constructor(settings: Settings) {
    this.#settings = settings
    this.#tell = seldom((sentence) => settings.log.warn(sentence), TOLD_MS)
  }

  /** False is counted, and told in the log once for each minion. */
  admits(jid: string, id: string): boolean {
    if (this.#known.get(jid)?.has(id) || this.#isExpected(jid, id)) return true
    this.#settings.meter?.count('salt_master_returns_refused', [])
    this.#tell(
      `${id} speaks of job ${jid}, which was not sent to it: that is dropped, as is what else it says of jobs of others.`,
      id,
    )
    return false
  }

  #isExpected(jid: string, id: string): boolean {
    const { jobs, config } = this.#settings
    const { load, minions = [] } = jobs.record(jid) ?? {}
    if (load && RUN.test(String(load.fun))) return false
    if (!load && minions.length === 0) return !existsSync(runPath(config, jid))
    const ids = this.#remember(jid, minions)
    return ids.has(id) || (load !== undefined && this.#isMeant(load, id))
  }

  /** By what is known of it now: its key may have been accepted, or its grains have changed, since the job was published. */
  #isMeant({ tgt, tgt_type, delimiter }: CachedJob['load'], id: string): boolean {
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
    this.#known.set(jid, ids)
    this.#ids += ids.size
    for (const oldest of this.#known.keys()) {
      if (this.#ids <= MOST_IDS || oldest === jid) break
      this.#forget(oldest)
    }
    return ids
  }

  #forget(jid: string): void {
    this.#ids -= this.#known.get(jid)?.size ?? 0
    this.#known.delete(jid)
  }
}

/** What the master runs itself. */
const RUN = /^(?:runner|wheel)\./
