import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { type Repetition, repeat } from '../../base/repeat.ts'
import { tags } from '../../events/index.ts'
import type { WorkerContext } from './context.ts'

type AnnounceContext = Pick<WorkerContext, 'config' | 'fire' | 'jobs' | 'log'>

/** How often to look for returns whose event was not fired. */
const CHECK_INTERVAL_MS = 2_000
/** The worker that stored a return has fired its event, or given up, after this long (see Pusher). */
const OVERDUE_MS = 10_000

/**
 * Fire the event of a return, and take it off the list of unannounced returns. Never rejects. A worker that dies in between
 * leaves it on the list: an event may be fired twice, but is never left out.
 */
export async function fireReturn(
  { config, fire, jobs, log }: AnnounceContext,
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

/** Fire from time to time the events of returns that a worker stored but did not announce. */
export function announceUnannounced(context: AnnounceContext, clock: Clock): Repetition {
  const announce = async (): Promise<void> => {
    for (;;) {
      const found = await context.jobs.unannounced.take(clock.now() - OVERDUE_MS)
      if (!found) return
      await fireReturn(context, found.jid, found.id, { cmd: '_return', ...found.ret })
    }
  }
  return repeat(announce, CHECK_INTERVAL_MS, (error) => context.log.debug(messageOf(error)))
}
