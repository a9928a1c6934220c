/** The regular expressions of filters and tests, in Python's dialect. */
import { type PythonSearch, pythonSearch } from '#internal'
import { asTemplateError } from '../errors.ts'
import { isTrue } from './sequences.ts'
import { strictText } from './text.ts'

interface Pattern {
  readonly rgx: unknown
  readonly ignorecase: unknown
  readonly multiline: unknown
}

/** Search with a pattern. @throws TemplateError if it is wrong, or takes too long */
export const searchWith = <T>(
  { rgx, ignorecase, multiline }: Pattern,
  use: (search: PythonSearch) => T,
): T => {
  const flags = `${isTrue(ignorecase) ? 'i' : ''}${isTrue(multiline) ? 'm' : ''}`
  return asTemplateError(() => use(pythonSearch(strictText(rgx), flags)))
}
