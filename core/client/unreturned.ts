import { SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { connections } from '../jobs/connected.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import { advance, type GivenUp, type JobState, type JobStatus, published } from '../jobs/job-states.ts'
import { isRecord } from '../wire/bytes.ts'
import type { MinionResult } from './contract.ts'
import type { LocalClient } from './local-client.ts'
import { UNKNOWN } from './missing.ts'

export interface LookUp {
  readonly config: MasterConfig
  readonly jobs: JobCache
  /** Ids of minions whose key is accepted. */
  readonly accepted: readonly string[]
  client(): Promise<LocalClient>
}

/** Seconds: who does not answer is asked no second time for long. */
const SECOND_QUESTION = 1

/**
 * What is known of the minions of a stored job that have not returned, by id: what they said when the job began there,
 * and what they say now (`saltutil.find_job`). Without a running master nobody is asked.
 */
export async function unreturned(jid: string, look: LookUp): Promise<Map<string, JobStatus>> {
  const { config, jobs, accepted } = look
  const starts = jobs.starts(jid)
  const { minions = [], unknown = [] } = jobs.load(jid) ?? {}
  const silent = minions.filter((id) => !jobs.return(jid, id))
  if (silent.includes(config.id)) return new Map([[config.id, runs]]) // a runner, or wheel function
  const perhaps = new Set(unknown.filter((id) => !starts.has(id)))
  const statuses = new Map(
    silent.map((id) => [id, starts.has(id) ? advance(published, { type: 'started' }) : published]),
  )
  const giveUp = (id: string, why: GivenUp) => {
    const status = advance(statuses.get(id) ?? published, { type: 'given-up', why, id, jid })
    statuses.set(id, perhaps.has(id) ? { state: status.state, why: UNKNOWN, advice: UNKNOWN } : status)
  }

  const known = new Set(accepted)
  const lost = new Set((await connections(config))?.lost)
  for (const id of silent) {
    if (!known.has(id)) giveUp(id, 'no-key')
    else if (lost.has(id)) giveUp(id, 'not-connected')
  }
  const asked = silent.filter((id) => known.has(id) && !lost.has(id))
  for await (const answer of answers(jid, asked, look)) {
    const said = whatItSays(answer)
    if (said === 'started' || said === 'received')
      statuses.set(answer.id, advance(statuses.get(answer.id) ?? published, { type: said }))
    else giveUp(answer.id, said)
  }
  for (const id of silent) if (jobs.return(jid, id)) statuses.delete(id) // it has come meanwhile
  return statuses
}

async function* answers(jid: string, minions: readonly string[], { config, client }: LookUp) {
  if (!minions.length) return
  try {
    yield* await (await client()).cmdIter({
      tgt: minions,
      tgtType: 'list',
      fun: 'saltutil.find_job',
      arg: [jid],
      check: false,
      timeout: config.timeout,
      gatherJobTimeout: SECOND_QUESTION,
    })
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'MASTER_UNREACHABLE') throw error
  }
}

function whatItSays(answer: MinionResult): GivenUp | 'started' | 'received' {
  if (answer.state !== 'returned') return SILENT[answer.jobState] ?? 'no-response'
  const { return: job } = answer
  if (!isRecord(job) || Object.keys(job).length === 0) return 'not-running'
  return job.state === 'queued' ? 'received' : 'started'
}

/** Of one that is over there is a return within seconds. */
const runs: JobStatus = { state: 'started', why: 'It runs on the master.' }

const SILENT: Partial<Record<JobState, GivenUp>> = {
  not_connected: 'not-connected',
  key_not_accepted: 'no-key',
}
