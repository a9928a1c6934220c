import { fnmatch } from './fnmatch.ts'
import { pythonRegExp } from './python-regexp.ts'

/** Text without any of these is a plain name: dots, `+` and `\` occur in names. */
const PATTERN = /[*?[\]()|^$]/

/** Text with any of these can only be a regular expression. */
const REGULAR_EXPRESSION = /[()|^$]/

/**
 * Whether an entry of the access rules (`publisher_acl`, `external_auth`, …) matches a name: the name itself, a shell
 * pattern, or a regular expression for the whole name.
 */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern === name) return true
  if (!PATTERN.test(pattern)) return false
  if (fnmatch(name, pattern)) return true
  try {
    return pythonRegExp(pattern, { whole: true }).matches(name)
  } catch {
    return false
  }
}

/**
 * Whether a pattern of a rule that forbids could match. Any valid regular expression counts as one, and a pattern that
 * cannot be matched in time counts as a match.
 */
export function mayMatch(pattern: string, text: string): boolean {
  if (pattern === text || fnmatch(text, pattern)) return true
  const expression = compiled(pattern)
  if (!expression) return false
  try {
    return expression.matches(text)
  } catch {
    return true
  }
}

function compiled(pattern: string) {
  try {
    return pythonRegExp(pattern, { whole: true })
  } catch {
    return undefined
  }
}

/**
 * Check a pattern that can only be a regular expression.
 * @throws SaltError TARGET_INVALID with the reason if it is not valid
 */
export function checkNamePattern(pattern: string): void {
  if (REGULAR_EXPRESSION.test(pattern)) pythonRegExp(pattern, { whole: true })
}
