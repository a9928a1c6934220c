import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { MasterConfig } from '../config/index.ts'
import { connections } from '../jobs/connected.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import { jobCacheDirectory } from '../jobs/paths.ts'
import type { MinionResult } from './contract.ts'
import { resultOf } from './return-stream.ts'

/** What a master knows of a job besides its events, as far as whoever asks may know it. */
export interface MasterRecords {
  /** Stored results of these minions. */
  returns(jid: string, ids: readonly string[]): AsyncIterable<MinionResult>
  /** Why minions are silent, of those where it is known. */
  silence(ids: ReadonlySet<string>): Promise<Silence>
}

interface Silence {
  /** Another key of that name was denied. */
  readonly denied: readonly string[]
  /** Were connected, and are not now. */
  readonly lost: readonly string[]
}

/** From the files on the master's host; empty for users who may not read them. */
export function recordsHere(config: MasterConfig): MasterRecords {
  const jobs = new SharedJobCache(config)
  return {
    returns: (jid, ids) => jobs.returns(jid, ids),
    async silence(ids) {
      const lost = (await connections(config))?.lost ?? []
      return { denied: await deniedAmong(ids, config), lost: lost.filter((id) => ids.has(id)) }
    },
  }
}

/** Open while somebody reads from it. */
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
      const { JobCache } = await import('../jobs/job-cache.ts') // off the way of jobs that all return
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

/** Whose key is accepted, while another one of that name was denied; none for users who may not see the keys. */
async function deniedAmong(ids: ReadonlySet<string>, { pki_dir }: MasterConfig): Promise<string[]> {
  const { KeyStore } = await import('../keys/key-store.ts') // off the way of jobs that all return
  const denied: string[] = await new KeyStore(pki_dir).list('denied').catch(() => [])
  return denied.filter((id) => ids.has(id))
}
