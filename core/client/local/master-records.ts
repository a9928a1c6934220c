import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { lostAmong } from '../../cache/connected.ts'
import { jobCacheDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import type { MinionResult } from './contract.ts'
import { resultOf } from './pending-returns.ts'

/** Records of a master about a job beside its events, as far as the client may read them. */
export interface MasterRecords {
  /** Return the stored results of these minions. */
  returns(jid: string, ids: readonly string[]): AsyncIterable<MinionResult>
  /** Return the stored end of a run, as in its event; nothing if it is not stored. */
  run(jid: string): AsyncIterable<MinionResult>
  /** Return why minions are silent, as far as it is known; `jid` names a job that waits for minions (`deliver_within`). */
  silence(ids: ReadonlySet<string>, jid: string | undefined): Promise<Silence>
}

interface Silence {
  /** Another key under that id was denied. */
  readonly denied: readonly string[]
  /** Minions that have lost their connection. */
  readonly lost: readonly string[]
  /** Those of them that are expected to reconnect in a moment. */
  readonly reconnecting: readonly string[]
  /** Minions that do not have the job, and get it when they come (`deliver_within`). */
  readonly waiting: readonly string[]
}

/**
 * Read records from the files on the master's host; empty for users who may not read them. `opened` is the job cache, if this process has
 * it open: to open it twice can block the process (lmdb waits for a write of the other one, which waits for this thread).
 */
export function localRecords(config: MasterConfig, opened?: JobCache): MasterRecords {
  const jobs = new SharedJobCache(config, opened)
  return {
    returns: (jid, ids) => jobs.returns(jid, ids),
    run: (jid) => jobs.returns(jid, [config.id]),
    async silence(ids, jid) {
      const waiting = jid === undefined ? [] : await jobs.waiting(jid, ids)
      return { denied: await deniedAmong(ids, config), ...(await lostAmong(ids, config)), waiting }
    },
  }
}

/** Keeps the job cache open while it is read. */
class SharedJobCache {
  readonly #config: MasterConfig
  readonly #opened: JobCache | undefined
  #open: Promise<JobCache> | undefined
  #readers = 0

  constructor(config: MasterConfig, opened: JobCache | undefined) {
    this.#config = config
    this.#opened = opened
  }

  async *returns(jid: string, ids: readonly string[]): AsyncGenerator<MinionResult> {
    if (!ids.length) return
    const cache = await this.#use()
    try {
      for (const id of cache ? ids : []) {
        const ret = cache?.return(jid, id)
        if (ret) yield resultOf(id, { ...ret, jid })
      }
    } finally {
      await this.#leave()
    }
  }

  /** Return the minions among these that have not taken a job, and may. */
  async waiting(jid: string, ids: ReadonlySet<string>): Promise<string[]> {
    const cache = await this.#use()
    try {
      return cache?.deliveries.takers(jid).filter((id) => ids.has(id)) ?? []
    } finally {
      await this.#leave()
    }
  }

  /** Return the job cache; undefined for users who may not read it, and if there is none. To be left after use. */
  async #use(): Promise<JobCache | undefined> {
    this.#readers++
    if (this.#opened || !this.#config.job_cache) return this.#opened
    const { JobCache } = await import('../../jobs/job-cache.ts') // not needed by jobs of which all minions return
    const directory = jobCacheDirectory(this.#config)
    if (!(await isWritable(JobCache.path(directory)))) return undefined
    this.#open ??= Promise.resolve(JobCache.open(directory))
    return this.#open
  }

  async #leave(): Promise<void> {
    if (--this.#readers === 0) await this.#close()
  }

  async #close(): Promise<void> {
    const cache = await this.#open
    if (this.#readers > 0) return
    this.#open = undefined
    await cache?.close()
  }
}

const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )

/** Return the ids under which a key was denied; none for users who may not read the keys. */
async function deniedAmong(ids: ReadonlySet<string>, { pki_dir }: MasterConfig): Promise<string[]> {
  const { KeyStore } = await import('../../keys/key-store.ts') // not needed by jobs of which all minions return
  const denied: string[] = await new KeyStore(pki_dir).list('denied').catch(() => [])
  return denied.filter((id) => ids.has(id))
}
