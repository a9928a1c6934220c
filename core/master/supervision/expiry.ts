import { openOwnTokens } from '../../auth/index.ts'
import type { Log } from '../../author/context.ts'
import { sizeText } from '../../base/byte-size.ts'
import { systemClock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
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

/**
 * Remove old jobs, jobs beyond `keep_jobs_size`, old requests, expired tokens, and data of minions whose key is gone. What fails is
 * logged, and the rest is done.
 */
export async function expire(
  config: MasterConfig,
  log: Log,
  fire: Fire,
  time: Pick<SteadyTime, 'now'>,
): Promise<void> {
  const options = { onDamage: logDamageTo(log) }
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  const lifetimeSeconds = config.publish_session
  const minionData = minionDataDirectory(config)
  const attempt = attemptLogging(log)

  await attempt('publications', () =>
    using(Publications.open(config, options), (publications) => publications.expire()),
  )
  const jobTime = await attempt('the job cache', () =>
    using(JobCache.open(jobCacheDirectory(config), options), (jobs) =>
      tidyJobs(config, jobs, log, fire, time),
    ),
  )
  const now = jobTime ?? time.now()
  if (lifetimeSeconds > 0)
    await attempt('the memory of requests', () =>
      using(ReplayGuard.open(config, systemClock, options), (replays) =>
        replays.expire(now - 2 * lifetimeSeconds * 1000),
      ),
    )
  await attempt('sessions', () =>
    using(SessionKeys.open(config.cachedir, { keys, lifetimeSeconds, ...options }), (sessions) =>
      sessions.prune(),
    ),
  )
  const isKnown = await attempt('the list of keys', () => knownMinions(keys))
  if (isKnown)
    for (const Kept of [Catalogues, MinionStarts, Mine])
      await attempt(Kept.path(minionData), () =>
        using(Kept.open(minionData, options), (store) => store.keep(isKnown)),
      )
  await attempt('tokens', () => expireTokens(config, log, now))
}

/** Return a function that does a part of the maintenance, and logs that it failed instead of rejecting. */
const attemptLogging =
  (log: Log) =>
  async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      log.error(`Maintenance of ${what} failed: ${messageOf(error)}`)
      return undefined
    }
  }

async function using<S extends { close(): Promise<void> }, T>(
  store: S,
  work: (store: S) => Promise<T>,
): Promise<T> {
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Remove old jobs, and those beyond `keep_jobs_size`. Resolves with the time by which they expire. */
async function tidyJobs(
  config: MasterConfig,
  jobs: JobCache,
  log: Log,
  fire: Fire,
  time: Pick<SteadyTime, 'now'>,
): Promise<number> {
  await jobs.completeIndex()
  const now = time.now(jobs.latestBefore(new Date(systemClock.now())))
  if (config.keep_jobs_seconds > 0) await expireJobs(config, jobs, log, now)
  await trimJobs(config, jobs, log, fire)
  return now
}

/** Return whether an id has an accepted key. A minion may be accepted after the keys were listed. */
async function knownMinions(keys: KeyStore): Promise<(id: string) => boolean> {
  const minions = new Set<string>(await keys.minions())
  return (id) => minions.has(id) || (isMinionId(id) && keys.accepted(id) !== undefined)
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
