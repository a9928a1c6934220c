/** The id begins with what a regular expression describes: `web\d+`. */
import { matcher, pythonRegExp } from 'salt-ts'

export default matcher({
  match: (expression, { id }) => typeof expression === 'string' && pythonRegExp(expression).matches(id),
})
