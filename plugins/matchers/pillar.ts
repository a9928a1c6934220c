/** Selects by a pillar value and a shell pattern: `role:front*`. Case does not matter. */
import { matcher } from 'salt-ts'
import { globTest } from './_leaf-tests.ts'
import { preparePath } from './_match-path.ts'

export default matcher({
  prepare: (expression, { delimiter }) => preparePath(expression, delimiter, 'pillar', globTest),
})
