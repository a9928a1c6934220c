/** A grain begins with what a regular expression describes: `os:(Debian|Ubuntu)`. Case does not matter. */
import { checkPathPcre, matcher } from 'salt-ts'
import { pcreTest } from './_leaf-tests.ts'
import { preparePath } from './_match-path.ts'

export default matcher({
  prepare(expression, { delimiter }) {
    if (typeof expression === 'string') checkPathPcre(expression, delimiter)
    return preparePath(expression, delimiter, 'grains', pcreTest)
  },
})
