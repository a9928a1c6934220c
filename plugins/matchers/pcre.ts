/** The id begins with what a regular expression describes: `web\d+`. */
import { matcher, pythonRegExp } from 'salt-ts'

export default matcher({
  prepare(expression) {
    if (typeof expression !== 'string') return () => false
    const pattern = pythonRegExp(expression)
    return ({ id }) => pattern.matches(id)
  },
})
