/** What the end of `key:sub:…:pattern` may be, for values as text. Case does not matter. */
import { fnmatch, pythonRegExp } from 'salt-ts'

type LeafTest = (text: string) => boolean

export function globTest(pattern: string): LeafTest {
  const lower = pattern.toLowerCase()
  return (text) => fnmatch(text.toLowerCase(), lower)
}

export function exactTest(wanted: string): LeafTest {
  const lower = wanted.toLowerCase()
  return (text) => text.toLowerCase() === lower
}

/** Where an expression may end in several patterns, those that are none match nothing. */
export function pcreTest(pattern: string): LeafTest {
  try {
    const expression = pythonRegExp(pattern, { ignoreCase: true })
    return (text) => expression.matches(text)
  } catch {
    return () => false
  }
}
