import { isJid, jidTime } from '../jobs/jid.ts'
import type { WorkerRoom } from './room.ts'

/** What is stored of a job: everything but its id. */
export interface NewJob {
  readonly load: Readonly<Record<string, unknown>>
  readonly minions: readonly string[]
  /** Which of them are perhaps not meant. */
  readonly unknown?: readonly string[] | undefined
  /** An id the client asks for. */
  readonly wanted?: string
}

/**
 * Give a job its id and store it under that (wire protocol §13.1). Undefined if the id that was asked for is taken or
 * is none. Rejects with STORE_FAILED: then the job must not be published.
 */
export async function storeJob(
  room: Pick<WorkerRoom, 'jobs' | 'nextJid' | 'config'>,
  { load, minions, unknown, wanted }: NewJob,
): Promise<string | undefined> {
  const take = (jid: string) =>
    room.config.job_cache
      ? room.jobs.create(jid, { ...load, jid }, minions, unknown)
      : room.jobs.reserve(jid, minions)
  if (wanted) return isJid(wanted) && (await take(wanted)) ? wanted : undefined
  for (;;) {
    const jid = room.nextJid()
    if (await take(jid)) return jid
  }
}

/** How old a job id may be that a client has chosen, as for a job that it repeats, and how far its clock may be ahead. */
const EARLIEST_MS = 86_400_000
const LATEST_MS = 300_000

/**
 * Why somebody without all rights may not choose this id, as a sentence; undefined if they may. Jobs are listed, searched
 * and imported by the time in their id, so that one of another time hides, or stands before all others. `now`: an id of now.
 */
export function chosenJidRefusal(wanted: string, now: string): string | undefined {
  if (!isJid(wanted)) return undefined
  const ahead = jidTime(wanted).getTime() - jidTime(now).getTime()
  if (ahead >= -EARLIEST_MS && ahead <= LATEST_MS) return undefined
  return `The job id ${wanted} is not one of now: it may say a time from a day ago to five minutes ahead of the master's clock, in UTC (${now}). Leave it out, and the master gives one.`
}
