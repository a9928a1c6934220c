import type { MasterConfig } from '../config/index.ts'
import { jobCacheDirectory } from '../jobs/paths.ts'
import type { MinionResult } from './contract.ts'
import { resultOf } from './return-stream.ts'

/** Why there is no result of a minion, as far as it can be known. */
export type Missing = 'no-key' | 'no-response' | 'not-connected' | 'master-gone'

const look = (jid: string | undefined) =>
  jid ? `\nThe job may still finish there. Look it up later:\n\nsalt-run jobs.lookup_jid ${jid}` : ''

const reasons: Record<Missing, (id: string, jid?: string) => string> = {
  'no-key': (id) => `Minion did not return. [No accepted key: no minion ${id} is known to the master]`,
  'no-response': (_, jid) =>
    `Minion did not return. [No response: it neither answered nor said that the job still runs]${look(jid)}`,
  'not-connected': (_, jid) => `Minion did not return. [Not connected]${look(jid)}`,
  'master-gone': (_, jid) => `Minion did not return. [The master went away while the job ran]${look(jid)}`,
}

export const missingSentence = (why: Missing, id: string, jid?: string): string => reasons[why](id, jid)

/** Returns that are in the job cache though their event was not seen. */
export async function storedResults(
  config: MasterConfig,
  jid: string,
  ids: readonly string[],
): Promise<Map<string, MinionResult>> {
  const results = new Map<string, MinionResult>()
  if (!ids.length || !config.job_cache) return results
  const { JobCache } = await import('../jobs/job-cache.ts') // off the way of jobs that all return
  const cache = JobCache.open(jobCacheDirectory(config))
  try {
    for (const [id, ret] of cache.returns(jid)) {
      if (ids.includes(id)) results.set(id, resultOf(id, { ...(ret as Record<string, unknown>), jid }))
    }
  } finally {
    await cache.close()
  }
  return results
}
