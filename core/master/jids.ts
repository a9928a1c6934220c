import { isJid } from '../jobs/jid.ts'
import type { WorkerRoom } from './room.ts'

/** Reserve a job id: the one asked for if it is free and valid, else a fresh one. Undefined if that one is not to be had. */
export async function jidFor(room: Pick<WorkerRoom, 'jobs' | 'nextJid'>, wanted = ''): Promise<string | undefined> {
  if (wanted) return isJid(wanted) && (await room.jobs.reserve(wanted)) ? wanted : undefined
  for (;;) {
    const jid = room.nextJid()
    if (await room.jobs.reserve(jid)) return jid
  }
}
