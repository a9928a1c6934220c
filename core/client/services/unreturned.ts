import type { Unreturned } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { lostAmong } from '../../cache/connected.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import {
  type GivenUp,
  type JobState,
  type JobStatus,
  nextStatus,
  PUBLISHED_STATUS,
  sentenceOf,
} from '../../jobs/job-states.ts'
import { storedStatus } from '../../jobs/stored-status.ts'
import { unsent } from '../../jobs/unsent.ts'
import { hasReturned, type MinionResult } from '../local/contract.ts'
import { UNKNOWN_MATCH_TEXT } from '../local/follow-job.ts'
import type { LocalClient } from '../local/local-client.ts'

export interface JobLookUp {
  readonly config: MasterConfig
  readonly jobs: JobCache
  /** Ids of minions with an accepted key. */
  readonly accepted: readonly string[]
  client(): Promise<LocalClient>
}

/** How long to wait for minions that do not answer the query. */
const GATHER_SECONDS = 1

/**
 * Return the state of each minion of a stored job, or batch of the master, that has not returned: what it reported when the job
 * started there, and what it answers now (`saltutil.find_job`). Without a running master no minion is asked.
 */
export async function unreturned(jid: string, look: JobLookUp): Promise<Unreturned[]> {
  const batch = look.jobs.batches.status(jid)
  const found = batch ? describe(jid, unsent(batch)) : []
  for (const job of [...(batch ? [] : [jid]), ...look.jobs.waves(jid)])
    found.push(...describe(job, await statuses(job, look)))
  return found
}

const describe = (jid: string, found: ReadonlyMap<string, JobStatus>): Unreturned[] =>
  Array.from(found, ([id, status]) => ({ id, jid, state: status.state, reason: sentenceOf(status) }))

async function statuses(jid: string, look: JobLookUp): Promise<Map<string, JobStatus>> {
  const { config, jobs, accepted } = look
  const starts = jobs.starts(jid)
  const { minions = [], unknown = [] } = jobs.load(jid) ?? {}
  const silent = minions.filter((id) => !jobs.return(jid, id))
  if (silent.includes(config.id)) return new Map([[config.id, runs]]) // a runner, or wheel function
  const perhaps = new Set(unknown.filter((id) => !starts.has(id)))
  const found = new Map(silent.map((id) => [id, storedStatus(jobs, jid, id)]))
  const giveUp = (id: string, why: GivenUp) => {
    const status = nextStatus(found.get(id) ?? PUBLISHED_STATUS, { type: 'given-up', why, id, jid })
    found.set(
      id,
      perhaps.has(id) ? { state: status.state, why: UNKNOWN_MATCH_TEXT, advice: UNKNOWN_MATCH_TEXT } : status,
    )
  }

  const known = new Set(accepted)
  const connection = await lostAmong(new Set(silent), config)
  const lost = new Set(connection.lost)
  for (const id of connection.reconnecting) lost.delete(id)
  for (const id of silent) {
    if (found.get(id)?.state === 'waiting' && known.has(id)) continue
    if (!known.has(id)) giveUp(id, 'no-key')
    else if (lost.has(id)) giveUp(id, 'not-connected')
  }
  const mayHaveIt = (id: string) => !HAVE_NOTHING.includes(found.get(id)?.state ?? 'published')
  const asked = silent.filter((id) => known.has(id) && !lost.has(id) && mayHaveIt(id))
  for await (const answer of answers(jid, asked, look)) {
    const said = whatItSays(answer)
    if (said === 'started' || said === 'received')
      found.set(answer.id, nextStatus(found.get(answer.id) ?? PUBLISHED_STATUS, { type: said }))
    else giveUp(answer.id, said)
  }
  for (const id of silent) if (jobs.return(jid, id)) found.delete(id) // it has returned meanwhile
  return found
}

async function* answers(jid: string, minions: readonly string[], { config, client }: JobLookUp) {
  if (!minions.length) return
  try {
    yield* await (await client()).cmdIter({
      tgt: minions,
      tgtType: 'list',
      fun: 'saltutil.find_job',
      arg: [jid],
      check: false,
      timeout: config.timeout,
      gatherJobTimeout: GATHER_SECONDS,
    })
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'MASTER_UNREACHABLE') throw error
  }
}

function whatItSays(answer: MinionResult): GivenUp | 'started' | 'received' {
  if (!hasReturned(answer)) return SILENT[answer.jobState] ?? 'no-response'
  const { return: job } = answer
  if (!isRecord(job) || Object.keys(job).length === 0) return 'not-running'
  return job.state === 'queued' ? 'received' : 'started'
}

/** Status of a runner or wheel function without a return: one that has ended has a return within seconds. */
const runs: JobStatus = { state: 'started', why: 'It runs on the master.' }

/** States in which a minion does not have the job. */
const HAVE_NOTHING: readonly JobState[] = ['waiting', 'expired', 'cancelled']

const SILENT: Partial<Record<JobState, GivenUp>> = {
  not_connected: 'not-connected',
  key_not_accepted: 'no-key',
}
