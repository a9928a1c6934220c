import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { tags } from '../events/index.ts'
import type { WorkerRoom } from './room.ts'

type Room = Pick<WorkerRoom, 'config' | 'fire' | 'jobs' | 'log'>

/** How often forgotten returns are looked for. */
const LOOK_MS = 2_000
/** Whoever stored a return has fired its event, or given that up, after this long (see Pusher). */
const FORGOTTEN_MS = 10_000

/**
 * Fire the event of a return, and cross it off the list of what is to be announced if it is on it. Never rejects: who
 * dies in between leaves it on the list, and the event may be fired twice, but never not at all.
 */
export async function fireReturn(
  { config, fire, jobs, log }: Room,
  jid: string,
  id: string,
  ret: Record<string, unknown>,
): Promise<void> {
  const fired = await fire(tags.jobReturn(jid, id), ret)
  if (!fired || !config.job_cache || jid === 'nocache') return
  await jobs.unannounced
    .remove(jid, id)
    .catch((error: unknown) => log.debug(`The return of ${id} will be announced again: ${messageOf(error)}`))
}

/** Announce the returns that a worker stored and could not announce any more, now and from time to time. */
export function announceForgotten(room: Room, clock: Clock): { close(): void } {
  async function look(): Promise<void> {
    for (;;) {
      const found = await room.jobs.unannounced.take(clock.now() - FORGOTTEN_MS)
      if (!found) return
      await fireReturn(room, found.jid, found.id, { cmd: '_return', ...found.ret })
    }
  }
  const guarded = () => void look().catch((error: unknown) => room.log.debug(messageOf(error)))
  guarded()
  const timer = setInterval(guarded, LOOK_MS)
  return { close: () => clearInterval(timer) }
}
