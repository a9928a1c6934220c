import { setTimeout as delay } from 'node:timers/promises'
import { SaltError } from '../../base/errors.ts'
import { isJid } from '../../base/jid.ts'
import type { MinionId } from '../../base/minion-id.ts'
import { NotAcknowledged } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import { countReturn } from '../metrics/return-metrics.ts'
import { fireReturn } from './announcements.ts'
import type { WorkerContext } from './context.ts'
import { writePythonReturnFiles } from './python-job-files.ts'

/** While the disk is full, a return waits this long before the minion is asked to send it again. */
const MAX_WAIT_MS = 40_000
const RETRY_MS = 1000
/** Limits the returns that wait in one worker at once; for further ones the minion is asked at once to send them again. */
const MAX_WAITING = 64
let waiting = 0

/**
 * Store a return that was checked, and announce it once. Rejects with NotAcknowledged if it must be sent again. `start` is when it
 * arrived, in milliseconds since 1970.
 */
export async function takeReturn(
  context: WorkerContext,
  jid: string,
  id: MinionId,
  ret: Readonly<Record<string, unknown>>,
  start: number,
): Promise<void> {
  const isKept = context.config.job_cache && jid !== 'nocache'
  const full = { ...ret, jid }
  const outcome = isKept ? await commit(context, jid, id, full) : 'stored'
  countReturn(context.meter, jid, full, outcome)
  if (outcome === 'conflict') {
    context.log.warn(
      `${id} returned job ${jid} a second time with a different result; the first one is kept. Do two minions run with ` +
        'this id and key, one a copy of the other?',
    )
  }
  if (outcome !== 'stored') return
  const { fun, retcode } = full as Record<string, unknown>
  if (isJid(jid)) context.tracer?.note({ part: 'return', jid, fun, minion: id, start, retcode })
  if (isKept) await writePythonReturnFiles(context, jid, id, full)
  context.log.info(`Got return from ${id} for job ${jid}`)
  // The acknowledgement does not wait for the events: another worker fires them if this one dies.
  void fireReturn(context, jid, id, full)
}

/** Store the return. While the disk is full, wait for room; after that, reject, so that the minion sends it again. */
async function commit(context: WorkerContext, jid: string, id: string, ret: Record<string, unknown>) {
  const { cmd, ...row } = ret
  const until = performance.now() + MAX_WAIT_MS
  for (let reported = false; ; reported = true) {
    try {
      return await context.jobs.saveReturn(jid, id, row)
    } catch (error) {
      if (!SaltError.is(error)) throw error
      if (!reported) reportFull(context, jid, id, error)
      if (performance.now() > until || waiting >= MAX_WAITING) throw new NotAcknowledged(error.message)
      waiting++
      await delay(RETRY_MS).finally(() => waiting--)
    }
  }
}

function reportFull(context: WorkerContext, jid: string, id: string, error: SaltError): void {
  context.log.error(`The return of ${id} for job ${jid} could not be stored: ${error.message}`)
  context.fire(tags.jobError(jid), { jid, id, error: { name: error.code, message: error.message } })
}
