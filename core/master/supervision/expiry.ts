import { openOwnTokens } from '../../auth/index.ts'
import type { Log } from '../../author/context.ts'
import { sizeText } from '../../base/byte-size.ts'
import { systemClock } from '../../base/clock.ts'
import { isMinionId } from '../../base/minion-id.ts'
import type { SteadyTime } from '../../base/steady-time.ts'
import { Catalogues } from '../../cache/catalogues.ts'
import { Mine } from '../../cache/mine.ts'
import { MinionStarts } from '../../cache/minion-starts.ts'
import { jobCacheDirectory, minionDataDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import { tags } from '../../events/index.ts'
import { JobCache } from '../../jobs/job-cache.ts'
import { removeJobFiles } from '../../jobs/job-files.ts'
import { Publications } from '../../jobs/publications.ts'
import { KeyStore, SessionKeys } from '../../keys/index.ts'
import { ReplayGuard } from '../worker/replay-guard.ts'
import { logDamageTo } from './directories.ts'

type Fire = (tag: string, data: Readonly<Record<string, unknown>>) => void

/** Remove old jobs, jobs beyond `keep_jobs_size`, old requests, expired tokens, and data of minions whose key is gone. */
export async function expire(
  config: MasterConfig,
  log: Log,
  fire: Fire,
  time: Pick<SteadyTime, 'now'>,
): Promise<void> {
  const onDamage = logDamageTo(log)
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  const lifetimeSeconds = config.publish_session
  const jobs = JobCache.open(jobCacheDirectory(config), { onDamage })
  const replays = ReplayGuard.open(config, systemClock, { onDamage })
  const sessions = SessionKeys.open(config.cachedir, { keys, lifetimeSeconds, onDamage })
  const publications = Publications.open(config, { onDamage })
  const catalogues = Catalogues.open(minionDataDirectory(config), { onDamage })
  const starts = MinionStarts.open(minionDataDirectory(config), { onDamage })
  const mine = Mine.open(minionDataDirectory(config), { onDamage })
  try {
    await publications.expire()
    await jobs.completeIndex()
    const now = time.now(jobs.latestBefore(new Date(systemClock.now())))
    if (config.keep_jobs_seconds > 0) await expireJobs(config, jobs, log, now)
    await trimJobs(config, jobs, log, fire)
    if (lifetimeSeconds > 0) await replays.expire(now - 2 * lifetimeSeconds * 1000)
    await sessions.prune()
    const minions = new Set<string>(await keys.minions())
    // A minion may have been accepted since that list was read.
    const isKnown = (id: string) => minions.has(id) || (isMinionId(id) && keys.accepted(id) !== undefined)
    for (const store of [catalogues, starts, mine]) await store.keep(isKnown)
    await expireTokens(config, log, now)
  } finally {
    const stores = [jobs, replays, sessions, publications, catalogues, starts, mine]
    await Promise.all(stores.map((store) => store.close()))
  }
}

/** Remove expired tokens; a token store on another host expires them itself. */
async function expireTokens(config: MasterConfig, log: Log, now: number): Promise<void> {
  const tokens = await openOwnTokens(config, { onDamage: logDamageTo(log) })
  try {
    await tokens?.expire(now / 1000)
  } finally {
    await tokens?.close()
  }
}

async function expireJobs(config: MasterConfig, jobs: JobCache, log: Log, now: number): Promise<void> {
  const olderThan = new Date(now - config.keep_jobs_seconds * 1000)
  const jids = [...jobs.expiring(olderThan)]
  if (jids.length === 0) return
  for (const jid of jids) await removeJobFiles(config, jid)
  await jobs.expire(olderThan)
  log.info(
    `${jids.length === 1 ? 'One job' : `${jids.length} jobs`} older than keep_jobs_seconds (${config.keep_jobs_seconds}) removed: ${jids[0]} to ${jids.at(-1)}.`,
  )
}

/** Return the log message about a clock that jumped ahead. */
export const clockLeapMessage = (ms: number): string =>
  `The clock jumped ahead by ${Math.round(ms / 60_000)} minutes. Jobs, tokens ` +
  'and requests expire by the new time only once the clock has kept it for an hour.'

/** Drop the oldest jobs while the job cache is larger than `keep_jobs_size`; log it and fire an event. */
export async function trimJobs(config: MasterConfig, jobs: JobCache, log: Log, fire: Fire): Promise<void> {
  const maxBytes = Number(config.keep_jobs_size)
  if (maxBytes === 0) return
  let count = 0
  let [first, last] = ['', '']
  for await (const jid of jobs.trim(maxBytes)) {
    await removeJobFiles(config, jid)
    if (count++ === 0) first = jid
    last = jid
  }
  const used = jobs.used()
  if (count > 0) {
    log.warn(
      `The job cache was over keep_jobs_size (${sizeText(maxBytes)}): the ${count} oldest jobs were dropped, ${first} to ${last}. It holds ${sizeText(used)} now.`,
    )
    fire(tags.jobsDropped, { count, first, last, used, keep_jobs_size: maxBytes })
  }
  if (used > maxBytes)
    log.warn(
      `The job cache holds ${sizeText(used)}, more than keep_jobs_size (${sizeText(maxBytes)}), in jobs that may still run and records that wait for a returner (salt-run returner.status). They are kept.`,
    )
}
