/**
 * Several targets joined by `and`, `or`, `not`, `(` and `)`, each a word of its own: `web* and not G@env:prod`.
 * `not` binds tighter than `and`, `and` tighter than `or`; `a not b` means `a and not b`.
 */
import { matcher, SaltInvocationError, type Verdict } from 'salt-ts'

const TYPES: Readonly<Record<string, string>> = {
  G: 'grain',
  P: 'grain_pcre',
  I: 'pillar',
  J: 'pillar_pcre',
  L: 'list',
  N: 'nodegroup',
  S: 'ipcidr',
  E: 'pcre',
  R: 'range',
}
const OPERATORS = new Set(['and', 'or', 'not', '(', ')'])
const DEEPEST = 100

export default matcher({
  match(expression, _subject, { match }) {
    const leaf = (word: string): Verdict => {
      const [, plain, nested, delimiter, pattern] = /^(?:([LNSER])|([GPIJ])(.)?)@(.+)$/su.exec(word) ?? []
      const letter = plain ?? nested
      return letter ? match(TYPES[letter] as string, pattern, delimiter) : match('glob', word)
    }
    const words = { list: wordsOf(expression), at: 0, leaf, depth: 0 }
    const verdict = alternatives(words)
    if (words.at < words.list.length) throw malformed(words)
    return verdict
  },
})

/** The words, how far they have been read, and what decides a word that is no operator. */
interface Words {
  readonly list: readonly string[]
  at: number
  readonly leaf: (word: string) => Verdict
  depth: number
}

/** `a or b or …` */
function alternatives(words: Words): Verdict {
  let verdict = conjunction(words)
  while (take(words, 'or')) verdict = or(verdict, conjunction(words))
  return verdict
}

/** `a and b and …`; `and` may be left out before `not`. */
function conjunction(words: Words): Verdict {
  let verdict = negation(words)
  while (take(words, 'and') || words.list[words.at] === 'not') verdict = and(verdict, negation(words))
  return verdict
}

function negation(words: Words): Verdict {
  return take(words, 'not') ? not(operand(words)) : operand(words)
}

function operand(words: Words): Verdict {
  if (take(words, '(')) return group(words)
  const word = words.list[words.at]
  if (word === undefined || OPERATORS.has(word)) throw malformed(words)
  words.at++
  return words.leaf(word)
}

function group(words: Words): Verdict {
  if (++words.depth > DEEPEST)
    throw new SaltInvocationError(`More than ${DEEPEST} parentheses are open at once.`)
  const verdict = alternatives(words)
  if (!take(words, ')')) throw malformed(words)
  words.depth--
  return verdict
}

function take(words: Words, word: string): boolean {
  if (words.list[words.at] !== word) return false
  words.at++
  return true
}

const not = (a: Verdict): Verdict => (a === 'unknown' ? a : !a)
const or = (a: Verdict, b: Verdict): Verdict => (a === true || b === true ? true : a === false ? b : a)
const and = (a: Verdict, b: Verdict): Verdict => not(or(not(a), not(b)))

function malformed({ list, at }: Words): SaltInvocationError {
  const where = at < list.length ? `before '${list.slice(at, at + 3).join(' ')}'` : 'at its end'
  return new SaltInvocationError(`The compound target is malformed ${where}.`)
}

function wordsOf(expression: unknown): string[] {
  if (typeof expression === 'string') return expression.split(/\s+/).filter((word) => word !== '')
  if (Array.isArray(expression) && expression.every((word) => typeof word === 'string')) return expression
  throw new SaltInvocationError('A compound target is text or a list of words.')
}
