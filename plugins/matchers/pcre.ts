/** Selects ids by a regular expression for their beginning: `web\d+`. */

import { matcher } from 'salt-ts'
import { pythonRegExp } from '#internal'

export default matcher({
  prepare(expression) {
    if (typeof expression !== 'string') return () => false
    const pattern = pythonRegExp(expression)
    return ({ id }) => pattern.matches(id)
  },
})
