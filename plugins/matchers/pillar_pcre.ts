/** A pillar value begins with what a regular expression describes: `role:front.*`. Case does not matter. */
import { matcher, pythonRegExp } from 'salt-ts'
import { matchPath } from './_match-path.ts'

export default matcher({
  match: (expression, { pillar }, { delimiter }) =>
    matchPath(pillar, expression, delimiter, (pattern) => {
      const expression = pythonRegExp(pattern, { ignoreCase: true })
      return (text) => expression.matches(text)
    }),
})
