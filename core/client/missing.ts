import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { MasterConfig } from '../config/index.ts'
import { jobCacheDirectory } from '../jobs/paths.ts'
import type { MinionResult } from './contract.ts'
import { resultOf } from './return-stream.ts'

/** Why there is no result of a minion, as far as it can be known. */
export type Missing = 'no-key' | 'no-response' | 'not-running' | 'not-connected' | 'master-gone'

const look = (jid: string | undefined) =>
  jid ? `\nThe job may still finish there. Look it up later:\n\nsalt-run jobs.lookup_jid ${jid}` : ''

const reasons: Record<Missing, (id: string, jid?: string) => string> = {
  'no-key': (id) => `Minion did not return. [No accepted key: no minion ${id} is known to the master]`,
  'no-response': (_, jid) =>
    `Minion did not return. [No response: it neither answered nor said that the job still runs]${look(jid)}`,
  'not-running': () =>
    'Minion did not return. [Not running: the minion says that it does not run this job, and no return of it is known]',
  'not-connected': (_, jid) => `Minion did not return. [Not connected]${look(jid)}`,
  'master-gone': (_, jid) => `Minion did not return. [The master went away while the job ran]${look(jid)}`,
}

/** Of a minion that did not return and is perhaps not meant. */
export const UNKNOWN =
  'It is not known whether the target means this minion: the master has none of its grains or pillar, and it did not return'

export const missingSentence = (why: Missing, id: string, jid?: string): string => reasons[why](id, jid)

/** Returns that are in the job cache though their event was not seen; none for users who may not read it. */
export async function storedResults(
  config: MasterConfig,
  jid: string,
  ids: readonly string[],
): Promise<MinionResult[]> {
  if (!ids.length || !config.job_cache) return []
  const { JobCache } = await import('../jobs/job-cache.ts') // off the way of jobs that all return
  const directory = jobCacheDirectory(config)
  if (!(await isWritable(JobCache.path(directory)))) return []
  const cache = JobCache.open(directory)
  try {
    return ids.flatMap((id) => {
      const ret = cache.return(jid, id)
      return ret ? [resultOf(id, { ...ret, jid })] : []
    })
  } finally {
    await cache.close()
  }
}

const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )
