import { closest } from '../base/closest.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { compoundWords, isCompoundOperator, parseCompound } from '../dialect/compound-target.ts'

/** Salt's option `nodegroups`: compound expressions by name, as text or as a list of words. Words without operators are ids. */
export type Nodegroups = Readonly<Record<string, unknown>>

/** Return the words of a nodegroup's compound expression, with nested nodegroups expanded. Throws TARGET_INVALID. */
export function expandNodegroup(name: string, nodegroups: Nodegroups): string[] {
  return expand(name, nodegroups, [])
}

/** Expand every `N@name` in a compound expression. Return it unchanged if there is none. Throws TARGET_INVALID. */
export function expandCompound(expression: unknown, nodegroups: Nodegroups): unknown {
  const words = compoundWords(expression) ?? []
  return words.some(isNodegroup) ? expandWords(words, nodegroups, []) : expression
}

function expand(name: string, nodegroups: Nodegroups, within: readonly string[]): string[] {
  if (within.includes(name)) {
    throw invalid(
      `Nodegroup '${name}' contains itself (${[...within, name].join(' → ')}): remove N@${name} from its definition in the configuration.`,
      name,
    )
  }
  const words = definitionOf(name, nodegroups)
  if (words.length === 0)
    throw invalid(`Nodegroup '${name}' is empty. Add targets to it in the configuration.`, name)
  return ['(', ...expandWords(words, nodegroups, [...within, name]), ')']
}

function expandWords(words: readonly string[], nodegroups: Nodegroups, within: readonly string[]): string[] {
  return words.flatMap((word) => (isNodegroup(word) ? expand(word.slice(2), nodegroups, within) : [word]))
}

function definitionOf(name: string, nodegroups: Nodegroups): string[] {
  const definition = Object.hasOwn(nodegroups, name) ? nodegroups[name] : undefined
  if (typeof definition === 'string') return checked(name, definition)
  if (!Array.isArray(definition)) {
    const meant = closest(name, Object.keys(nodegroups))
    throw invalid(
      `There is no nodegroup '${name}' in the configuration.${meant ? ` Did you mean '${meant}'?` : ''}`,
      name,
    )
  }
  const words = definition.map(String)
  const compound = words.some((word) => isCompoundOperator(word) || word.includes('@'))
  if (compound) return checked(name, words)
  return words.length === 0 ? words : [`L@${words.join(',')}`]
}

/** Return the words of a definition after checking it alone, so that an error names its nodegroup. */
function checked(name: string, definition: string | readonly string[]): string[] {
  const words = compoundWords(definition) ?? []
  if (words.length === 0) return words
  try {
    parseCompound(definition)
    return words
  } catch (error) {
    throw invalid(`Nodegroup '${name}': ${messageOf(error)}`, name)
  }
}

const isNodegroup = (word: string): boolean => word.startsWith('N@') && word.length > 2

function invalid(message: string, nodegroup: string): SaltError {
  return new SaltError('TARGET_INVALID', message, { nodegroup })
}
