/** Numbers in JSON texts of which `JSON.parse` would lose digits or kind. */

/** Texts, which are left alone, and numbers. */
export const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/** A float that is whole, or an integer with too many digits. What is no number at all is left to JSON.parse. */
export function losesByParsing(token: string): boolean {
  if (token.startsWith('"') || !/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(token)) return false
  const value = Number(token)
  const isInteger = /^-?\d+$/.test(token) && token !== '-0'
  return isInteger ? !Number.isSafeInteger(value) : Number.isInteger(value)
}
