import { exitCodeOfRetcode, exitCodes } from '../exit-codes.ts'
import type { Tally } from './tally.ts'

export interface ExitCodeSettings {
  /** Exit codes of Salt's `salt` (option `salt_exit_codes: legacy`). */
  readonly legacy?: boolean
  /** Exit with the highest return code of a function instead of 1 (`--retcode-passthrough`). */
  readonly passthrough?: boolean
  /** Gather everything and print one document, sorted by id (`--static`). */
  readonly isStatic: boolean
  /** List the minions that did not return. */
  readonly showMissing: boolean
  /** Ids of a list target that have no accepted key. */
  readonly withoutKey?: readonly string[]
}

/**
 * Return the exit code for a job. A failure counts more than a missing return. Minions for which the job waits count as neither:
 * that was asked for.
 */
export function jobExitCode(tally: Tally, settings: ExitCodeSettings): number {
  if (settings.legacy) return legacyCode(tally, settings)
  const { failures, missing, waiting, returned, failureCodes } = tally
  if (failures.length > 0)
    return settings.passthrough
      ? Math.max(exitCodes.failed, ...[...failureCodes].map(exitCodeOfRetcode))
      : exitCodes.failed
  if (missing.length > 0) return exitCodes.missing
  return returned > 0 || waiting.length > 0 ? exitCodes.ok : exitCodes.nothing
}

/**
 * Return the exit code of Salt: with `--static` no return code counts, nor do those of a job with several functions.
 * Missing returns count if they are shown, or if the minion has no key.
 */
function legacyCode(
  { total, returned, missing, singleCodes }: Tally,
  { passthrough, isStatic, showMissing, withoutKey = [] }: ExitCodeSettings,
): number {
  if (total === 0 || (isStatic && returned === 0)) return exitCodes.nothing
  if (isStatic) return exitCodes.ok
  const isIncomplete = showMissing ? missing.length > 0 : missing.some(({ id }) => withoutKey.includes(id))
  const codes = [...singleCodes, ...(isIncomplete ? [exitCodes.failed] : [])]
  if (passthrough) return Math.max(exitCodes.ok, ...codes.map(exitCodeOfRetcode))
  return codes.every((code) => code === 0) ? exitCodes.ok : exitCodes.failed
}
