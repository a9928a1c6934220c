/** Return the exit code and success of a job on a minion, by its return for one function or several. */
export function jobStatusOf({ retcode: code, success }: Readonly<Record<string, unknown>>): {
  readonly retcode: number
  readonly success: boolean
} {
  const retcode = codeOf(code)
  return { retcode, success: succeeded(success) ?? retcode === 0 }
}

/** Return the exit code. A job with several functions has a code for each; the one furthest from 0 counts. */
function codeOf(retcode: unknown): number {
  if (typeof retcode === 'number') return retcode
  if (retcode instanceof Number) return Number(retcode)
  if (typeof retcode !== 'object' || retcode === null) return 0
  const codes = Object.values(retcode).map(codeOf)
  return codes.reduce((worst, code) => (Math.abs(code) > Math.abs(worst) ? code : worst), 0)
}

/**
 * Return whether all functions succeeded. For a function that threw, a Python minion sends no exit code, only this
 * flag.
 */
function succeeded(success: unknown): boolean | undefined {
  if (typeof success === 'boolean') return success
  if (typeof success !== 'object' || success === null) return undefined
  return Object.values(success).every((each) => each !== false)
}
