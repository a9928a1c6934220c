import { isJid } from '../jobs/jid.ts'
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
