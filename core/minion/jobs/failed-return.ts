import type { JobLoad } from '../../wire/publication.ts'
import { type JobResult, makeReturn, type ReturnLoad } from '../../wire/return.ts'

/** Return the text that replaces the value of a failed return, as in Salt. */
export const errorText = (reason: string): string => `ERROR: ${reason}`

const FAILED = { retcode: 1, success: false, out: 'nested' } as const

/** Make the result of a function that returned no value, with `text` as the value. */
export const failedOutcome = (text: string, failure: 'missing' | 'error' = 'error'): JobResult => ({
  return: text,
  ...FAILED,
  failure,
})

/** Replace the value of a return that cannot be sent by the reason. */
export const withoutValue = <T extends object>(ret: T, reason: string): T => ({
  ...ret,
  return: errorText(reason),
  ...FAILED,
})

/** Make the return of a job that produced none. */
export const failedReturn = (job: JobLoad, id: string, reason: string): ReturnLoad =>
  makeReturn(job, id, failedOutcome(errorText(reason)))

/** Return a job without its arguments, to be shown before it begins: only the function declares which are secret. */
export const withoutArguments = (job: JobLoad): JobLoad => ({ ...job, arg: [] })
