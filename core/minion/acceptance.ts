import { SaltError } from '../base/errors.ts'
import type { ReceivedJob, SeenJobs, SeenPublication } from '../jobs/seen-jobs.ts'
import { CHECK } from '../wire/catalogue.ts'
import type { ControlFunctions } from './control-functions.ts'

/** Whether a published job may run: it may, it has been seen before, or it must not, and why. */
export type Acceptance = 'run' | 'seen' | { readonly refused: string }

/**
 * A job runs once, also after a restart: it must be on disk before it begins, `received` with it. While the disk takes nothing,
 * jobs are refused, but for what the minion answers itself, so that it can be asked, and jobs that fill the disk killed.
 */
export async function acceptJob(
  seen: SeenJobs,
  publication: SeenPublication,
  fun: string | readonly string[],
  control: Pick<ControlFunctions, 'has'>,
  received?: ReceivedJob,
): Promise<Acceptance> {
  try {
    return (await seen.accept(publication, received)) ? 'run' : 'seen'
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'STORE_FAILED') throw error
    if (!seen.acceptUnstored(publication)) return 'seen'
    if (fun === CHECK || control.has(fun)) return 'run'
    return { refused: `The job was not run. ${error.message}` }
  }
}
