/** Targets of the form `key:sub:…:pattern`, in which nothing marks where the key ends and the pattern begins. */
import { pythonRegExp } from './python-regexp.ts'

/** Where there are more delimiters, no more places are looked at. */
const MOST_PLACES = 50

/**
 * Throws `SaltError` TARGET_INVALID if none of the patterns that the expression may end in can be used as a regular
 * expression; the reason is that of the longest.
 */
export function checkPathPcre(expression: string, delimiter = ':'): void {
  const parts = expression.split(delimiter).slice(0, MOST_PLACES)
  let reason: unknown
  for (let split = 1; split < parts.length; split++) {
    try {
      pythonRegExp(parts.slice(split).join(delimiter), { ignoreCase: true })
      return
    } catch (error) {
      reason ??= error
    }
  }
  if (reason !== undefined) throw reason
}
