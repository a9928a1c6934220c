import type { RunnerResult } from '../../client/index.ts'
import { valueText } from '../../dialect/json.ts'
import { exitCodeFor, exitCodeOfRetcode, exitCodes } from '../exit-codes.ts'
import { printNote } from './console.ts'
import type { Printer } from './printer.ts'

/**
 * Print the result of a runner or wheel function, an error to standard error, and return the exit code. A function that returns nothing
 * prints nothing, unless `--out` asks for a form.
 */
export async function printRunResult(result: RunnerResult, printer: Printer): Promise<number> {
  const { return: value, success, retcode, outputter, failure } = result
  if (!success && typeof value === 'string') printNote(failure ? `ERROR: ${value}` : value)
  else if (value !== null || printer.chosen !== undefined) await printer.print(value, { outputter, retcode })
  if (failure) return exitCodeFor(failure)
  return success ? exitCodes.ok : exitCodeOfRetcode(retcode) || exitCodes.failed
}

/** Return the line for a progress event: `{message}` of most runners, `{return}` of those that yield. */
export function progressLine(data: object): string {
  const progress = 'message' in data ? data.message : 'return' in data ? data.return : data
  return valueText(progress)
}
