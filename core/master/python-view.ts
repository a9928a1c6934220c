import { fileProblem } from '../base/file-problem.ts'
import type { MinionId } from '../base/minion-id.ts'
import { writeEndTime, writeJobFiles, writeReturnFiles } from '../jobs/job-files.ts'
import type { NewJob } from './jids.ts'
import type { WorkerRoom } from './room.ts'

type Room = Pick<WorkerRoom, 'config' | 'log'>

/** Show a job to Python programs on this host: without its files Salt's own `salt` does not wait for it. Never rejects. */
export async function showJob({ config, log }: Room, jid: string, { load, minions }: NewJob): Promise<void> {
  if (!config.job_cache) return
  await writeJobFiles(config, { jid, load: { ...load, jid }, minions }).catch((error: unknown) =>
    log.warn(`Python programs on this host will not see job ${jid}: ${fileProblem(error)}.`),
  )
}

/** Show a return to them as well, for `jobs.lookup_jid` and the like, if that is wished for. Never rejects. */
export async function showReturn(
  { config, log }: Room,
  jid: string,
  id: MinionId,
  ret: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (!config.job_cache || !config.python_job_cache) return
  try {
    await writeReturnFiles(config, jid, id, ret)
    if (config.job_cache_store_endtime) await writeEndTime(config, jid, new Date())
  } catch (error) {
    log.warn(
      `Python programs on this host will not see the return of ${id} for job ${jid}: ${fileProblem(error)}.`,
    )
  }
}
