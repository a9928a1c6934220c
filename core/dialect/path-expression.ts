/** Targets of the form `key:sub:…:pattern`; nothing in them marks where the key ends and the pattern begins. */
import { pythonRegExp } from './python-regexp.ts'

/** Delimiters that are tried as the end of the key, at most. */
const MAX_PLACES = 50

/**
 * Check that the expression ends in a valid regular expression, whichever delimiter ends the key.
 * @throws SaltError TARGET_INVALID with the reason for the longest candidate, if none is valid
 */
export function checkPathPcre(expression: string, delimiter = ':'): void {
  const parts = expression.split(delimiter).slice(0, MAX_PLACES)
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
