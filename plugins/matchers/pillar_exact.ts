/** Selects by a pillar value and an exact text, so that access rules about one value cannot be widened. Case does not matter. */
import { matcher } from 'salt-ts'
import { exactTest } from './_leaf-tests.ts'
import { preparePath } from './_match-path.ts'

export default matcher({
  prepare: (expression, { delimiter }) => preparePath(expression, delimiter, 'pillar', exactTest),
})
