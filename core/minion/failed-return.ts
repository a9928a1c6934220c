import type { JobLoad } from '../wire/publication.ts'
import { makeReturn, type ReturnLoad } from '../wire/return.ts'

/** The same return with a reason in the place of what was given, which cannot be sent. */
export const withoutValue = <T extends object>(ret: T, reason: string): T => ({
  ...ret,
  return: `ERROR: ${reason}`,
  retcode: 1,
  success: false,
  out: 'nested',
})

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
