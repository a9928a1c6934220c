/** Tests of the last part of `key:sub:…:pattern`, for values as text. Case does not matter. */
import { fnmatch, pythonRegExp } from '#internal'

type LeafTest = (text: string) => boolean

export function globTest(pattern: string): LeafTest {
  const lower = pattern.toLowerCase()
  return (text) => fnmatch(text.toLowerCase(), lower)
}

export function exactTest(wanted: string): LeafTest {
  const lower = wanted.toLowerCase()
  return (text) => text.toLowerCase() === lower
}

/** Return the test. An invalid expression matches nothing, because the path may also be split at another delimiter. */
export function pcreTest(pattern: string): LeafTest {
  try {
    const expression = pythonRegExp(pattern, { ignoreCase: true })
    return (text) => expression.matches(text)
  } catch {
    return () => false
  }
}
