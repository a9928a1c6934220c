import { openTokenStore, tokenStoreFile } from '../auth/index.ts'
import type { Log } from '../author/context.ts'
import { sizeText } from '../base/byte-size.ts'
import { systemClock } from '../base/clock.ts'
import type { SteadyTime } from '../base/steady-time.ts'
import type { MasterConfig } from '../config/index.ts'
import { tags } from '../events/index.ts'
import { Catalogues } from '../jobs/catalogues.ts'
import { JobCache } from '../jobs/job-cache.ts'
import { removeJobFiles } from '../jobs/job-files.ts'
import { MinionStarts } from '../jobs/minion-starts.ts'
import { jobCacheDirectory, minionDataDirectory } from '../jobs/paths.ts'
import { KeyStore, SessionKeys } from '../keys/index.ts'
import { damageTo } from './directories.ts'
import { ReplayGuard } from './replay-guard.ts'

type Fire = (tag: string, data: Readonly<Record<string, unknown>>) => void

/** Forget old jobs, jobs for which there is no room, old requests, and sessions and catalogues whose key is gone. */
export async function expire(
  config: MasterConfig,
  log: Log,
  fire: Fire,
  time: Pick<SteadyTime, 'now'>,
): Promise<void> {
  const onDamage = damageTo(log)
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  const lifetimeSeconds = config.publish_session
  const jobs = JobCache.open(jobCacheDirectory(config), { onDamage })
  const replays = ReplayGuard.open(config, systemClock, { onDamage })
  const sessions = SessionKeys.open(config.cachedir, { keys, lifetimeSeconds, onDamage })
  const catalogues = Catalogues.open(minionDataDirectory(config), { onDamage })
  const starts = MinionStarts.open(minionDataDirectory(config), { onDamage })
  try {
    await jobs.completeIndex()
    const now = time.now(jobs.latestBefore(new Date(systemClock.now())))
    if (config.keep_jobs_seconds > 0) await expireJobs(config, jobs, log, now)
    await trimJobs(config, jobs, log, fire)
    if (lifetimeSeconds > 0) await replays.expire(now - 2 * lifetimeSeconds * 1000)
    await sessions.prune()
    const minions = new Set(await keys.minions())
    await catalogues.keep(minions)
    await starts.keep(minions)
    await expireTokens(config, log, now)
  } finally {
    await Promise.all([jobs.close(), replays.close(), sessions.close(), catalogues.close(), starts.close()])
  }
}

/** Those that are kept elsewhere are forgotten there. */
async function expireTokens(config: MasterConfig, log: Log, now: number): Promise<void> {
  if (tokenStoreFile(config) === undefined) return
  const tokens = await openTokenStore(config, { onDamage: damageTo(log) })
  try {
    await tokens.expire(now / 1000)
  } finally {
    await tokens.close()
  }
}

async function expireJobs(config: MasterConfig, jobs: JobCache, log: Log, now: number): Promise<void> {
  const olderThan = new Date(now - config.keep_jobs_seconds * 1000)
  const jids = [...jobs.expiring(olderThan)]
  if (jids.length === 0) return
  for (const jid of jids) await removeJobFiles(config, jid)
  await jobs.expire(olderThan)
  log.info(
    `${jids.length === 1 ? 'One job' : `${jids.length} jobs`} older than keep_jobs_seconds (${config.keep_jobs_seconds}) went: ${jids[0]} to ${jids.at(-1)}.`,
  )
}

/** What the log says of a clock that cannot be right, or was not before. */
export const leapText = (ms: number): string =>
  `The clock has gone ahead by ${Math.round(ms / 60_000)} minutes at once. No job, ` +
  'token or request expires by that before it has stayed so for an hour.'

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
