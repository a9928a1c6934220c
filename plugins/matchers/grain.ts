/** Selects by a grain and a shell pattern: `os:Deb*`. Case does not matter. */
import { matcher } from 'salt-ts'
import { globTest } from './_leaf-tests.ts'
import { preparePath } from './_match-path.ts'

export default matcher({
  prepare: (expression, { delimiter }) => preparePath(expression, delimiter, 'grains', globTest),
})
