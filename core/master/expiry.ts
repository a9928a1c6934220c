import { openTokenStore, tokenStoreFile } from '../auth/index.ts'
import type { Log } from '../author/context.ts'
import { sizeText } from '../base/byte-size.ts'
import { systemClock } from '../base/clock.ts'
import type { MasterConfig } from '../config/index.ts'
import { tags } from '../events/index.ts'
import { Catalogues } from '../jobs/catalogues.ts'
import { JobCache } from '../jobs/job-cache.ts'
import { removeJobFiles } from '../jobs/job-files.ts'
import { jobCacheDirectory, minionDataDirectory } from '../jobs/paths.ts'
import { KeyStore, SessionKeys } from '../keys/index.ts'
import { damageTo } from './directories.ts'
import { ReplayGuard } from './replay-guard.ts'

type Fire = (tag: string, data: Readonly<Record<string, unknown>>) => void

/** Forget old jobs, jobs for which there is no room, old requests, and sessions and catalogues whose key is gone. */
export async function expire(config: MasterConfig, log: Log, fire: Fire): Promise<void> {
  const onDamage = damageTo(log)
  const now = systemClock.now()
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  const lifetimeSeconds = config.publish_session
  const jobs = JobCache.open(jobCacheDirectory(config), { onDamage })
  const replays = ReplayGuard.open(config, systemClock, { onDamage })
  const sessions = SessionKeys.open(config.cachedir, { keys, lifetimeSeconds, onDamage })
  const catalogues = Catalogues.open(minionDataDirectory(config), { onDamage })
  try {
    await jobs.completeIndex()
    if (config.keep_jobs_seconds > 0)
      await expireJobs(config, jobs, new Date(now - config.keep_jobs_seconds * 1000))
    await trimJobs(config, jobs, log, fire)
    if (lifetimeSeconds > 0) await replays.expire(now - 2 * lifetimeSeconds * 1000)
    await sessions.prune()
    await catalogues.keep(new Set(await keys.minions()))
    await expireTokens(config, log)
  } finally {
    await Promise.all([jobs.close(), replays.close(), sessions.close(), catalogues.close()])
  }
}

/** Those that are kept elsewhere are forgotten there. */
async function expireTokens(config: MasterConfig, log: Log): Promise<void> {
  if (tokenStoreFile(config) === undefined) return
  const tokens = await openTokenStore(config, { onDamage: damageTo(log) })
  try {
    await tokens.expire(systemClock.now() / 1000)
  } finally {
    await tokens.close()
  }
}

async function expireJobs(config: MasterConfig, jobs: JobCache, olderThan: Date): Promise<void> {
  for (const jid of [...jobs.expiring(olderThan)]) await removeJobFiles(config, jid)
  await jobs.expire(olderThan)
}

/** Drop the oldest jobs where they need more room than `keep_jobs_size`, and tell of it. */
export async function trimJobs(config: MasterConfig, jobs: JobCache, log: Log, fire: Fire): Promise<void> {
  const most = Number(config.keep_jobs_size)
  if (most === 0) return
  let count = 0
  let [first, last] = ['', '']
  for await (const jid of jobs.trim(most)) {
    await removeJobFiles(config, jid)
    if (count++ === 0) first = jid
    last = jid
  }
  const used = jobs.used()
  if (count > 0) {
    log.warn(
      `The job cache was over keep_jobs_size (${sizeText(most)}): the ${count} oldest jobs were dropped, ${first} to ${last}. It holds ${sizeText(used)} now.`,
    )
    fire(tags.jobsDropped, { count, first, last, used, keep_jobs_size: most })
  }
  if (used > most)
    log.warn(
      `The job cache holds ${sizeText(used)}, more than keep_jobs_size (${sizeText(most)}), in jobs that may still run and records that wait for a returner (salt-run returner.status). They are kept.`,
    )
}
