/** A grain begins with what a regular expression describes: `os:(Debian|Ubuntu)`. Case does not matter. */
import { matcher, pythonRegExp } from 'salt-ts'
import { matchPath } from './_match-path.ts'

export default matcher({
  match: (expression, { grains }, { delimiter }) =>
    matchPath(grains, expression, delimiter, (pattern) => {
      const expression = pythonRegExp(pattern, { ignoreCase: true })
      return (text) => expression.matches(text)
    }),
})
