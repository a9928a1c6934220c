import type { MinionResult } from '../client/index.ts'
import { exitCodes, passedThrough } from './exit-codes.ts'

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
  readonly unknown?: readonly string[]
}

export const hasFailed = (result: MinionResult): boolean =>
  result.state === 'returned' && (result.retcode !== 0 || !result.success)

/** How a job ends that minions were asked for. A failure says more than that somebody is missing. */
export function jobExitCode(results: readonly MinionResult[], settings: VerdictSettings): number {
  if (settings.legacy) return legacyCode(results, settings)
  if (results.some(hasFailed)) return settings.passthrough ? highest(results) : exitCodes.failed
  if (results.length === 0) return exitCodes.nothing
  return results.some(({ state }) => state === 'missing') ? exitCodes.missing : exitCodes.ok
}

function highest(results: readonly MinionResult[]): number {
  const codes = results.filter(hasFailed).map((result) => (result.state === 'returned' ? result.retcode : 0))
  return Math.max(exitCodes.failed, ...codes.map(passedThrough))
}

/**
 * Salt looks at single codes only: with `--static` at none, of a job with several functions at none. Who is missing
 * counts if it is shown, or is not known at all.
 */
function legacyCode(
  results: readonly MinionResult[],
  { passthrough, together, showMissing, unknown = [] }: VerdictSettings,
): number {
  if (results.length === 0) return exitCodes.nothing
  if (together) return results.some(({ state }) => state === 'returned') ? exitCodes.ok : exitCodes.nothing
  const codes = results.flatMap((result) => {
    if (result.state === 'missing')
      return showMissing || unknown.includes(result.id) ? [exitCodes.failed] : []
    return Array.isArray(result.fun) ? [] : [result.retcode]
  })
  if (passthrough) return Math.max(exitCodes.ok, ...codes.map(passedThrough))
  return codes.every((code) => code === 0) ? exitCodes.ok : exitCodes.failed
}
