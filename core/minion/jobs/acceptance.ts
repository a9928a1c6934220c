import { SaltError } from '../../base/errors.ts'
import type { PendingJob, SeenJobs, SeenPublication } from '../../jobs/seen-jobs.ts'
import { CHECK_FUNCTION } from '../../wire/catalogue.ts'
import type { ControlFunctions } from '../control-functions.ts'

/** Whether a published job runs: it does, it is ignored since it was seen before, or it is refused for a reason. */
export type JobAcceptance = 'run' | 'seen' | { readonly refused: string }

/**
 * Decide whether a job runs. A job runs only once, even after a restart, so it must be recorded on disk before it begins,
 * together with `received`. If the disk cannot be written, jobs are refused, except control functions: the minion must
 * still be reachable, and jobs that fill the disk must be killable.
 */
export async function acceptJob(
  seen: SeenJobs,
  publication: SeenPublication,
  fun: string | readonly string[],
  control: Pick<ControlFunctions, 'has'>,
  received?: PendingJob,
): Promise<JobAcceptance> {
  try {
    return (await seen.accept(publication, received)) ? 'run' : 'seen'
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'STORE_FAILED') throw error
    if (!seen.acceptUnstored(publication)) return 'seen'
    if (fun === CHECK_FUNCTION || control.has(fun)) return 'run'
    return { refused: `The job was not run. ${error.message}` }
  }
}
