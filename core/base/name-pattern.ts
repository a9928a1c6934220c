import { fnmatch } from './fnmatch.ts'
import { pythonRegExp } from './python-regexp.ts'

/** Without one of these it is a name and nothing else: dots, `+` and `\` are parts of names. */
const PATTERN = /[*?[\]()|^$]/

/** Of a text with one of these but `*?[]` only a regular expression makes sense. */
const REGULAR_EXPRESSION = /[()|^$]/

/**
 * Whether the options of who may do what mean somebody: by the name itself, a shell pattern, or a regular expression for
 * the whole name.
 */
export function namedBy(pattern: string, name: string): boolean {
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
 * The same where it takes something away: whatever could be a regular expression is held to be one, and what cannot be
 * decided in time to mean this.
 */
export function couldMean(pattern: string, text: string): boolean {
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

/** Throws SaltError TARGET_INVALID, with the reason, for what can only be a regular expression and is not a valid one. */
export function checkNamePattern(pattern: string): void {
  if (REGULAR_EXPRESSION.test(pattern)) pythonRegExp(pattern, { whole: true })
}
