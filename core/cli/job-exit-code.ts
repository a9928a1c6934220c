import { exitCodes, passedThrough } from './exit-codes.ts'
import type { Tally } from './tally.ts'

export interface VerdictSettings {
  /** Option `salt_exit_codes`: as Salt's `salt` ends. */
  readonly legacy?: boolean
  /** The highest code of a function rather than 1. */
  readonly passthrough?: boolean
  /** Gather everything and print one document, sorted by id (`--static`). */
  readonly together: boolean
  /** Name the minions that did not return. */
  readonly showMissing: boolean
  /** Ids of a list target without accepted key. */
  readonly withoutKey?: readonly string[]
}

/** How a job ends that minions were asked for. A failure says more than that somebody is missing. */
export function jobExitCode(tally: Tally, settings: VerdictSettings): number {
  if (settings.legacy) return legacyCode(tally, settings)
  const { failures, missing, returned, failureCodes } = tally
  if (failures.length > 0)
    return settings.passthrough
      ? Math.max(exitCodes.failed, ...[...failureCodes].map(passedThrough))
      : exitCodes.failed
  if (missing.length > 0) return exitCodes.missing
  return returned > 0 ? exitCodes.ok : exitCodes.nothing
}

/**
 * Salt looks at single codes only: with `--static` at none, of a job with several functions at none. Who is missing
 * counts if it is shown, or has no key at all.
 */
function legacyCode(
  { total, returned, missing, singleCodes }: Tally,
  { passthrough, together, showMissing, withoutKey = [] }: VerdictSettings,
): number {
  if (total === 0 || (together && returned === 0)) return exitCodes.nothing
  if (together) return exitCodes.ok
  const silent = showMissing ? missing.length > 0 : missing.some(({ id }) => withoutKey.includes(id))
  const codes = [...singleCodes, ...(silent ? [exitCodes.failed] : [])]
  if (passthrough) return Math.max(exitCodes.ok, ...codes.map(passedThrough))
  return codes.every((code) => code === 0) ? exitCodes.ok : exitCodes.failed
}
