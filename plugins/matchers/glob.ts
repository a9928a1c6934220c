/** The id matches a shell pattern: `web*`, `web0[12]`. */
import { fnmatch, matcher } from 'salt-ts'

export default matcher({
  match: (expression, { id }) => typeof expression === 'string' && fnmatch(id, expression),
})
