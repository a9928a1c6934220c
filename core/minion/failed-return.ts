import type { JobLoad } from '../wire/publication.ts'
import { makeReturn, type Outcome, type ReturnLoad } from '../wire/return.ts'

/** The same return with a reason in the place of what was given, which cannot be sent. */
export const withoutValue = <T extends object>(ret: T, reason: string): T => ({
  ...ret,
  return: `ERROR: ${reason}`,
  retcode: 1,
  success: false,
  out: 'nested',
})

/** The outcome of a function that gave none itself. */
export const failedOutcome = (reason: string): Outcome => ({
  return: `ERROR: ${reason}`,
  retcode: 1,
  success: false,
  out: 'nested',
  failure: 'error',
})

/** The return of a job that gave none itself. */
export const failedReturn = (job: JobLoad, id: string, reason: string): ReturnLoad =>
  makeReturn(job, id, failedOutcome(reason))
