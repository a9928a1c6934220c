import { isRecord } from '../base/record.ts'
import { asNumber, asText } from './bytes.ts'
import { type JobLoad, readJobLoad } from './publication.ts'
import { type RawArguments, readRawArguments } from './raw-arguments.ts'

/** Position in the sequence of published jobs: time of publication, in milliseconds since 1970, and jid. */
export type PublicationPosition = readonly [at: number, jid: string]

/** A job as it was published, and its arguments as typed. */
export interface MissedJob {
  readonly job: JobLoad
  readonly words?: RawArguments | undefined
}

/** A part of the jobs, oldest first. `next` is the position to go on after; undefined if there are no more. */
export interface MissedJobs {
  readonly jobs: readonly MissedJob[]
  readonly next?: PublicationPosition | undefined
}

/**
 * Make a minion's request for jobs that were published while it was not connected. It is an addition of salt-ts, which a master
 * offers in its answer to the report of a start ({@link StartAnswer}).
 */
export const makeMissedJobsRequest = (id: string, after?: PublicationPosition): Record<string, unknown> => ({
  cmd: '_missed_jobs',
  id,
  ...(after && { after: [...after] }),
})

/** Read the position after which a minion asks for jobs; undefined for all of them. */
export const readMissedJobsRequest = (
  load: Readonly<Record<string, unknown>>,
): PublicationPosition | undefined => readPosition(load.after)

export const makeMissedJobsReply = ({ jobs, next }: MissedJobs): Record<string, unknown> => ({
  jobs: jobs.map(makeMissedJob),
  ...(next && { next: [...next] }),
})

export function readMissedJobsReply(reply: unknown): MissedJobs {
  const { jobs, next } = isRecord(reply) ? reply : {}
  const read = Array.isArray(jobs) ? jobs.flatMap((missed) => readMissedJob(missed) ?? []) : []
  return { jobs: read, next: readPosition(next) }
}

/** Make a missed job as it is sent, and stored by the master. */
export const makeMissedJob = ({ job, words }: MissedJob): Record<string, unknown> => ({
  job,
  ...(words && { words }),
})

/** Read a missed job; undefined if it is malformed. */
export function readMissedJob(missed: unknown): MissedJob | undefined {
  if (!isRecord(missed) || !isRecord(missed.job)) return undefined
  const job = readJobLoad(missed.job)
  return job && { job, words: readRawArguments(missed.words) }
}

function readPosition(position: unknown): PublicationPosition | undefined {
  if (!Array.isArray(position)) return undefined
  const [at, jid] = [asNumber(position[0]), asText(position[1], 64)]
  return at === undefined || !jid ? undefined : [at, jid]
}
