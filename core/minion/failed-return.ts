import type { JobLoad } from '../wire/publication.ts'
import { makeReturn, type ReturnLoad } from '../wire/return.ts'

/** The return of a job that gave none itself. */
export function failedReturn(job: JobLoad, id: string, reason: string): ReturnLoad {
  const outcome = {
    return: `ERROR: ${reason}`,
    retcode: 1,
    success: false,
    out: 'nested',
    failure: 'error',
  } as const
  return makeReturn(job, id, outcome)
}
