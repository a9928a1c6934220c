/** How a job ended on a minion, by its return: of one function, or of several at once. */
export function endOf({ retcode: code, success }: Readonly<Record<string, unknown>>): {
  readonly retcode: number
  readonly success: boolean
} {
  const retcode = codeOf(code)
  return { retcode, success: succeeded(success) ?? retcode === 0 }
}

/** A job with several functions has a code for each: the one that is furthest from 0 counts. */
function codeOf(retcode: unknown): number {
  if (typeof retcode === 'number') return retcode
  if (retcode instanceof Number) return Number(retcode)
  if (typeof retcode !== 'object' || retcode === null) return 0
  const codes = Object.values(retcode).map(codeOf)
  return codes.reduce((worst, code) => (Math.abs(code) > Math.abs(worst) ? code : worst), 0)
}

/** Of several functions all have to succeed; a Python minion gives no code for one that threw, and only says it here. */
function succeeded(success: unknown): boolean | undefined {
  if (typeof success === 'boolean') return success
  if (typeof success !== 'object' || success === null) return undefined
  return Object.values(success).every((each) => each !== false)
}
