/**
 * Ends runs whose process was killed, ran out of memory or was lost with its host: every run gets a stored result and a return
 * event.
 */
import { rm } from 'node:fs/promises'
import type { MasterConfig } from '../config/index.ts'
import { EventBus, masterEventSockets, tags } from '../events/index.ts'
import { type NotedRun, notedRuns } from './running-runs.ts'
import { type RunReturn, storeRun } from './stored-run.ts'

/**
 * Store the results of runs whose processes have ended without doing so, and fire their return events. Rejects if that is not
 * possible now, for example because no master runs; a later call repeats it.
 */
export async function endLostRuns(config: MasterConfig): Promise<void> {
  const gone = (await notedRuns(config)).filter(({ alive }) => !alive)
  const [own, others] = [gone.filter(({ born }) => born), gone.filter(({ born }) => !born)]
  for (const { path } of others) await rm(path, { force: true }) // runs of Salt's own programs, which fire their own events
  if (own.length === 0) return
  for (const run of own) if (run.store) await storeRun(config, endOf(run))
  const bus = await EventBus.connect({ ...masterEventSockets(config), confirmed: true })
  try {
    for (const run of own) {
      await bus.fire(endTag(run), endOf(run))
      await rm(run.path, { force: true })
    }
  } finally {
    await bus.close()
  }
}

const endTag = ({ fun, jid }: NotedRun): string =>
  fun.startsWith('wheel.') ? tags.wheelReturn(jid) : tags.runReturn(jid)

function endOf({ jid, fun, user, fun_args, ended }: NotedRun): RunReturn {
  if (ended) return ended
  const sentence =
    `The process of ${fun.replace('.', ' ')} ended before its function did: it was killed, left by process.exit, ran out ` +
    'of memory, or the host went down. It is unknown how much of it was done.'
  return { jid, fun, user, fun_args, return: sentence, success: false }
}
