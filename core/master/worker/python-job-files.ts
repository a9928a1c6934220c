import { fileProblem } from '../../base/files/file-problem.ts'
import type { MinionId } from '../../base/minion-id.ts'
import { writeEndTime, writeJobFiles, writeReturnFiles } from '../../jobs/job-files.ts'
import type { NewJob } from '../preflight/jids.ts'
import type { WorkerContext } from './context.ts'

type FilesContext = Pick<WorkerContext, 'config' | 'log'>

/** Write the files of a job for Python programs on this host: without them Salt's own `salt` does not wait for it. Never rejects. */
export async function writePythonJobFiles(
  { config, log }: FilesContext,
  jid: string,
  { load, minions }: NewJob,
): Promise<void> {
  if (!config.job_cache) return
  await writeJobFiles(config, { jid, load: { ...load, jid }, minions }).catch((error: unknown) =>
    log.warn(`Python programs on this host will not see job ${jid}: ${fileProblem(error)}.`),
  )
}

/** Write the files of a return, for Python's `jobs.lookup_jid` and others, if `python_job_cache` is set. Never rejects. */
export async function writePythonReturnFiles(
  { config, log }: FilesContext,
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
