/** A grain matches a shell pattern: `os:Deb*`. Case does not matter. */
import { fnmatch, matcher } from 'salt-ts'
import { matchPath } from './_match-path.ts'

export default matcher({
  match: (expression, { grains }, { delimiter }) =>
    matchPath(grains, expression, delimiter, (pattern) => {
      const lower = pattern.toLowerCase()
      return (text) => fnmatch(text.toLowerCase(), lower)
    }),
})
