/** Selects by a nodegroup of the configuration: a compound expression, or a list of ids. */

import { matcher, SaltInvocationError } from 'salt-ts'
import { isCompoundOperator, valueText } from '#internal'

export default matcher({
  prepare(name, { nodegroups, prepare }) {
    const known = typeof name === 'string' && Object.hasOwn(nodegroups, name)
    const definition = known ? nodegroups[name] : undefined
    if (typeof definition === 'string') return prepare('compound', definition)
    if (!Array.isArray(definition))
      throw new SaltInvocationError(`There is no nodegroup '${valueText(name)}'.`)
    return prepare(definition.some(isCompoundWord) ? 'compound' : 'list', definition)
  },
})

const isCompoundWord = (word: unknown): boolean =>
  typeof word === 'string' && (isCompoundOperator(word) || word.includes('@'))
