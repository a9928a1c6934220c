/** Selects ids by a shell pattern: `web*`, `web0[12]`. */

import { matcher } from 'salt-ts'
import { fnmatch } from '#internal'

export default matcher({
  prepare(expression) {
    if (typeof expression !== 'string') return () => false
    return ({ id }) => fnmatch(id, expression)
  },
})
