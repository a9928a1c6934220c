/** Selects by a grain and a regular expression for its beginning: `os:(Debian|Ubuntu)`. Case does not matter. */

import { matcher } from 'salt-ts'
import { checkPathPcre } from '#internal'
import { pcreTest } from './_leaf-tests.ts'
import { preparePath } from './_match-path.ts'

export default matcher({
  prepare(expression, { delimiter }) {
    if (typeof expression === 'string') checkPathPcre(expression, delimiter)
    return preparePath(expression, delimiter, 'grains', pcreTest)
  },
})
