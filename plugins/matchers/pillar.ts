/** A pillar value matches a shell pattern: `role:front*`. Case does not matter. */
import { fnmatch, matcher } from 'salt-ts'
import { matchPath } from './_match-path.ts'

export default matcher({
  match: (expression, { pillar }, { delimiter }) =>
    matchPath(pillar, expression, delimiter, (pattern) => {
      const lower = pattern.toLowerCase()
      return (text) => fnmatch(text.toLowerCase(), lower)
    }),
})
