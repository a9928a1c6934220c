import { closest } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'

/** Salt's `nodegroups`: name → compound expression, as text or as words; words without operators are ids. */
export type Nodegroups = Readonly<Record<string, unknown>>

const OPERATORS = new Set(['and', 'or', 'not', '(', ')'])

/** The words of the compound expression a nodegroup stands for, with nested nodegroups resolved. TARGET_INVALID. */
export function expandNodegroup(name: string, nodegroups: Nodegroups): string[] {
  return expand(name, nodegroups, [])
}

/** A compound expression with every `N@name` resolved; unchanged if there is none. TARGET_INVALID. */
export function expandCompound(expression: string, nodegroups: Nodegroups): string | string[] {
  const words = wordsOf(expression)
  return words.some(isNodegroup) ? expandWords(words, nodegroups, []) : expression
}

function expand(name: string, nodegroups: Nodegroups, within: readonly string[]): string[] {
  if (within.includes(name)) {
    throw invalid(`Nodegroup '${name}' contains itself (${[...within, name].join(' → ')}).`, name)
  }
  const words = definitionOf(name, nodegroups)
  if (words.length === 0) throw invalid(`Nodegroup '${name}' is empty.`, name)
  return ['(', ...expandWords(words, nodegroups, [...within, name]), ')']
}

function expandWords(words: readonly string[], nodegroups: Nodegroups, within: readonly string[]): string[] {
  return words.flatMap((word) => (isNodegroup(word) ? expand(word.slice(2), nodegroups, within) : [word]))
}

function definitionOf(name: string, nodegroups: Nodegroups): string[] {
  const definition = Object.hasOwn(nodegroups, name) ? nodegroups[name] : undefined
  if (typeof definition === 'string') return wordsOf(definition)
  if (!Array.isArray(definition)) {
    const meant = closest(name, Object.keys(nodegroups))
    throw invalid(
      `There is no nodegroup '${name}' in the configuration.${meant ? ` Did you mean '${meant}'?` : ''}`,
      name,
    )
  }
  const words = definition.map(String)
  const compound = words.some((word) => OPERATORS.has(word) || word.includes('@'))
  return compound || words.length === 0 ? words : [`L@${words.join(',')}`]
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')
const isNodegroup = (word: string): boolean => word.startsWith('N@') && word.length > 2

function invalid(message: string, nodegroup: string): SaltError {
  return new SaltError('TARGET_INVALID', message, { nodegroup })
}
