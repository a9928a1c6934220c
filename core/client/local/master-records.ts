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
  /** Return why minions are silent, as far as it is known. */
  silence(ids: ReadonlySet<string>): Promise<Silence>
}

interface Silence {
  /** Another key under that id was denied. */
  readonly denied: readonly string[]
  /** Minions that have lost their connection. */
  readonly lost: readonly string[]
  /** Those of them that are expected to reconnect in a moment. */
  readonly reconnecting: readonly string[]
}

/** Read records from the files on the master's host; empty for users who may not read them. */
export function localRecords(config: MasterConfig): MasterRecords {
  const jobs = new SharedJobCache(config)
  return {
    returns: (jid, ids) => jobs.returns(jid, ids),
    async silence(ids) {
      return { denied: await deniedAmong(ids, config), ...(await lostAmong(ids, config)) }
    },
  }
}

/** Keeps the job cache open while it is read. */
class SharedJobCache {
  readonly #config: MasterConfig
  #open: Promise<JobCache> | undefined
  #readers = 0

  constructor(config: MasterConfig) {
    this.#config = config
  }

  async *returns(jid: string, ids: readonly string[]): AsyncGenerator<MinionResult> {
    const directory = jobCacheDirectory(this.#config)
    if (!ids.length || !this.#config.job_cache) return
    this.#readers++
    try {
      const { JobCache } = await import('../../jobs/job-cache.ts') // not needed by jobs of which all minions return
      if (!(await isWritable(JobCache.path(directory)))) return
      this.#open ??= Promise.resolve(JobCache.open(directory))
      const cache = await this.#open
      for (const id of ids) {
        const ret = cache.return(jid, id)
        if (ret) yield resultOf(id, { ...ret, jid })
      }
    } finally {
      if (--this.#readers === 0) await this.#close()
    }
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
