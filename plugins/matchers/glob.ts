/** The id matches a shell pattern: `web*`, `web0[12]`. */
import { fnmatch, matcher } from 'salt-ts'

export default matcher({
  prepare(expression) {
    if (typeof expression !== 'string') return () => false
    return ({ id }) => fnmatch(id, expression)
  },
})
