/** The nodegroup of that name, from the configuration: a compound expression, or a list of ids. */
import { matcher, SaltInvocationError } from 'salt-ts'

const OPERATORS = new Set(['and', 'or', 'not', '(', ')'])

export default matcher({
  match(name, _subject, { nodegroups, match }) {
    const known = typeof name === 'string' && Object.hasOwn(nodegroups, name)
    const definition = known ? nodegroups[name] : undefined
    if (typeof definition === 'string') return match('compound', definition)
    if (!Array.isArray(definition)) throw new SaltInvocationError(`There is no nodegroup '${String(name)}'.`)
    return match(definition.some(isCompoundWord) ? 'compound' : 'list', definition)
  },
})

const isCompoundWord = (word: unknown): boolean =>
  typeof word === 'string' && (OPERATORS.has(word) || word.includes('@'))
