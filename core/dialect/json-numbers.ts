/** Numbers in JSON text that `JSON.parse` does not read exactly: it loses digits, or the kind (3.0). */

/** Matches strings, which are left unchanged, and numbers. */
export const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/**
 * Whether a token is a float with a whole value, or an integer with too many digits. Malformed numbers are left for
 * `JSON.parse` to refuse.
 */
export function losesPrecision(token: string): boolean {
  if (token.startsWith('"') || !/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(token)) return false
  const value = Number(token)
  const isInteger = /^-?\d+$/.test(token) && token !== '-0'
  return isInteger ? !Number.isSafeInteger(value) : Number.isInteger(value)
}
