/** A pillar value equals a text (no pattern), so that a rule about one value cannot be widened. Case does not matter. */
import { matcher } from 'salt-ts'
import { matchPath } from './_match-path.ts'

export default matcher({
  match: (expression, { pillar }, { delimiter }) =>
    matchPath(pillar, expression, delimiter, (wanted) => {
      const lower = wanted.toLowerCase()
      return (text) => text.toLowerCase() === lower
    }),
})
