/**
 * Compound targets: `web* and not ( G@env:prod or E@db\d+ )` (wire protocol §15). White space separates the words; `not`
 * binds tighter than `and`, `and` tighter than `or`; `a not b` is the same as `a and not b`.
 */
import { SaltError } from '../base/errors.ts'

/** The target type that a letter before the `@` selects. */
interface TargetLetter {
  readonly type: string
  /** Whether the letter may be followed by the delimiter of its expression: `G|@os|Debian`. */
  readonly delimited: boolean
}
export type TargetLetters = ReadonlyMap<string, TargetLetter>

/** One target of a compound expression. */
export interface CompoundLeaf {
  readonly type: string
  readonly expression: string
  readonly delimiter?: string
  /** The word as it was written. */
  readonly word: string
}
export type CompoundTree =
  | { readonly any: readonly CompoundTree[] }
  | { readonly all: readonly CompoundTree[] }
  | { readonly not: CompoundTree }
  | CompoundLeaf

const plain = (type: string): TargetLetter => ({ type, delimited: false })
const delimited = (type: string): TargetLetter => ({ type, delimited: true })

/** Salt's letters. */
export const saltLetters: TargetLetters = new Map([
  ['G', delimited('grain')],
  ['P', delimited('grain_pcre')],
  ['I', delimited('pillar')],
  ['J', delimited('pillar_pcre')],
  ['L', plain('list')],
  ['N', plain('nodegroup')],
  ['S', plain('ipcidr')],
  ['E', plain('pcre')],
  ['R', plain('range')],
])

const OPERATORS = new Set(['and', 'or', 'not', '(', ')'])
const MAX_OPEN_PARENTHESES = 100

/** Whether a word is an operator or a parenthesis, not a target. */
export const isCompoundOperator = (word: string): boolean => OPERATORS.has(word)

/** Return the words of a compound expression, given as text or as a list of words. Undefined if it is neither. */
export function compoundWords(expression: unknown): string[] | undefined {
  if (typeof expression === 'string') return [...expression.matchAll(WORD)].map(([word]) => word)
  return isWords(expression) ? [...expression] : undefined
}

/** A word: characters that Python does not count as white space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: file, group and record separators are white space there
const WORD = /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu

const isWords = (expression: unknown): expression is readonly string[] =>
  Array.isArray(expression) && expression.every((word) => typeof word === 'string')

/**
 * Parse a compound target.
 * @throws SaltError TARGET_INVALID with a sentence, and below it the expression with a `^` under the place
 */
export function parseCompound(expression: unknown, letters: TargetLetters = saltLetters): CompoundTree {
  return new Parser(expression, letters).run()
}

interface Word {
  readonly text: string
  readonly at: number
}

class Parser {
  readonly #text: string
  readonly #words: readonly Word[]
  readonly #letters: TargetLetters
  #next = 0
  #depth = 0

  constructor(expression: unknown, letters: TargetLetters) {
    if (typeof expression !== 'string' && !isWords(expression))
      throw new SaltError('TARGET_INVALID', 'A compound target is text or a list of words.')
    this.#letters = letters
    this.#text = typeof expression === 'string' ? expression : expression.join(' ')
    this.#words = typeof expression === 'string' ? parted(expression) : joined(expression)
  }

  run(): CompoundTree {
    const tree = this.#alternatives()
    const word = this.#words[this.#next]
    if (word?.text === ')') throw this.#invalid("')' closes no '('", word.at)
    if (word) throw this.#invalid(`'and' or 'or' is missing before '${shortened(word.text)}'`, word.at)
    return tree
  }

  /** `a or b or …` */
  #alternatives(): CompoundTree {
    const any = [this.#conjunction()]
    while (this.#take('or')) any.push(this.#conjunction())
    return any.length > 1 ? { any } : (any[0] as CompoundTree)
  }

  /** `a and b and …`; `and` may be left out before `not`. */
  #conjunction(): CompoundTree {
    const all = [this.#negation()]
    while (this.#take('and') || this.#words[this.#next]?.text === 'not') all.push(this.#negation())
    return all.length > 1 ? { all } : (all[0] as CompoundTree)
  }

  #negation(): CompoundTree {
    return this.#take('not') ? { not: this.#operand() } : this.#operand()
  }

  #operand(): CompoundTree {
    const word = this.#words[this.#next]
    if (word?.text === '(') return this.#group(word)
    if (word === undefined || OPERATORS.has(word.text)) throw this.#noTarget(word)
    this.#next++
    return this.#leaf(word.text)
  }

  #group(open: Word): CompoundTree {
    if (++this.#depth > MAX_OPEN_PARENTHESES)
      throw this.#invalid(`more than ${MAX_OPEN_PARENTHESES} parentheses are open at once`, open.at)
    this.#next++
    const tree = this.#alternatives()
    const word = this.#words[this.#next]
    if (word === undefined) throw this.#invalid("this '(' is never closed", open.at)
    if (!this.#take(')'))
      throw this.#invalid(`'and' or 'or' is missing before '${shortened(word.text)}'`, word.at)
    this.#depth--
    return tree
  }

  #leaf(word: string): CompoundLeaf {
    const at = word.indexOf('@')
    const [letter = '', delimiter, ...more] = at > 0 ? Array.from(word.slice(0, at)) : []
    // the delimiter itself may be an @: `G@@os@Debian`
    const wordDelimiter = delimiter ?? (word.startsWith('@', at + 1) ? '@' : undefined)
    const known = more.length === 0 ? this.#letters.get(letter) : undefined
    if (
      known &&
      wordDelimiter !== undefined &&
      known.delimited &&
      word.length > letter.length + wordDelimiter.length + 1
    )
      return {
        type: known.type,
        expression: word.slice(letter.length + wordDelimiter.length + 1),
        delimiter: wordDelimiter,
        word,
      }
    if (known && delimiter === undefined && word.length > at + 1)
      return { type: known.type, expression: word.slice(at + 1), word }
    return { type: 'glob', expression: word, word }
  }

  #take(text: string): boolean {
    if (this.#words[this.#next]?.text !== text) return false
    this.#next++
    return true
  }

  /** Make the error for an operator, or the end, where a target is expected. */
  #noTarget(found: Word | undefined): SaltError {
    const before = this.#words[this.#next - 1]
    const after = before === undefined ? '' : ` after '${before.text}'`
    if (this.#words.length === 0) return this.#invalid('it is empty', 0)
    if (found === undefined) return this.#invalid(`a target is missing${after}`, this.#text.length)
    if (before === undefined) return this.#invalid(`a target is missing before '${found.text}'`, found.at)
    return this.#invalid(`a target is missing between '${before.text}' and '${found.text}'`, found.at)
  }

  #invalid(reason: string, at: number): SaltError {
    const sentence = `The compound target is malformed at character ${at + 1}: ${reason}.`
    return new SaltError('TARGET_INVALID', `${sentence}\n${pointed(this.#text, at)}`, { at })
  }
}

const parted = (text: string): Word[] =>
  [...text.matchAll(WORD)].map((found) => ({ text: found[0], at: found.index }))

function joined(words: readonly string[]): Word[] {
  let at = 0
  return words.map((text) => {
    const word = { text, at }
    at += text.length + 1
    return word
  })
}

const SHOWN = 60

/** Return the expression, or the part around the place, with a `^` under the place. */
function pointed(text: string, at: number): string {
  const from = text.length > SHOWN ? Math.max(0, at - SHOWN / 2) : 0
  const to = Math.min(text.length, from + SHOWN)
  const [head, tail] = [from > 0 ? '...' : '', to < text.length ? '...' : '']
  const shown = text.slice(from, to).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
  return `  ${head}${shown}${tail}\n  ${' '.repeat(head.length + at - from)}^`
}

const shortened = (word: string): string => (word.length > SHOWN ? `${word.slice(0, SHOWN - 3)}...` : word)
