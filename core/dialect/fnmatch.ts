/**
 * Shell patterns as Python's `fnmatch` reads them, case-sensitive: `*`, `?`, `[abc]`, `[a-z]`, `[!abc]`. Only brackets
 * escape (`[*]`). Globs of npm packages differ from this in braces, slashes and dots.
 * The generated expressions cannot backtrack beyond one `*`, so matching takes time proportional to the length of the
 * pattern times that of the text at most.
 */
import { SaltError } from '../base/errors.ts'

const compiled = new Map<string, RegExp>()
/** Compiled patterns that are kept: more than one compound target may have, since each is matched with every minion. */
const MAX_COMPILED = 2_000
/** In characters. V8 refuses expressions of about ten times this length, and only when they are first matched. */
const MAX_LENGTH = 4_096
const MAX_STARS = 500

/** Whether the whole of `text` matches the shell pattern. */
export function fnmatch(text: string, pattern: string): boolean {
  return fnmatchToRegExp(pattern).test(text)
}

/**
 * Return the anchored regular expression of a shell pattern.
 * @throws SaltError TARGET_INVALID if the pattern is too large for V8
 */
export function fnmatchToRegExp(pattern: string): RegExp {
  const known = compiled.get(pattern)
  if (known) return known
  const stars = pattern.split('*').length - 1
  if (pattern.length > MAX_LENGTH || stars > MAX_STARS) throw tooLarge(pattern, stars)
  const made = new RegExp(`^${translate(pattern)}$`, 'su')
  if (compiled.size >= MAX_COMPILED) compiled.clear()
  compiled.set(pattern, made)
  return made
}

function tooLarge(pattern: string, stars: number): SaltError {
  const size = `it has ${pattern.length} characters and ${stars} stars, but may have ${MAX_LENGTH} and ${MAX_STARS}`
  return new SaltError('TARGET_INVALID', `The pattern '${pattern.slice(0, 60)}...' is too large: ${size}.`)
}

/**
 * Translate a pattern. Each `*` but the last becomes an atomic group: the shortest text up to the end of the part after
 * it.
 */
function translate(pattern: string): string {
  const parts = splitAtStars(pattern)
  const first = parts.shift() as string
  const last = parts.pop()
  if (last === undefined) return first
  const middle = parts.filter((part) => part !== '')
  const atoms = middle.map((part, n) => `(?=(?<s${n}>.*?${part}))\\k<s${n}>`)
  return `${first}${atoms.join('')}.*${last}`
}

/** Return the regular expressions of the parts between the stars. */
function splitAtStars(pattern: string): string[] {
  const characters = [...pattern]
  const parts = ['']
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string
    if (character === '*') {
      parts.push('')
      continue
    }
    const end = character === '[' ? endOfSet(characters, at) : -1
    parts[parts.length - 1] += end < 0 ? literalOrAny(character) : set(characters.slice(at + 1, end))
    if (end >= 0) at = end
  }
  return parts
}

function literalOrAny(character: string): string {
  return character === '?' ? '.' : literal(character)
}

/**
 * Return the position of the `]` that ends the set opened at `start`; -1 if there is none, and the `[` stands for
 * itself.
 */
function endOfSet(characters: readonly string[], start: number): number {
  const first = start + (characters[start + 1] === '!' ? 2 : 1)
  return characters.indexOf(']', first + 1)
}

function set(characters: string[]): string {
  const negated = characters[0] === '!'
  const ranges = rangesOf(negated ? characters.slice(1) : characters)
  if (ranges === '') return negated ? '.' : '(?!)'
  return `[${negated ? '^' : ''}${ranges}]`
}

/** Return the members of a set in JavaScript's syntax. A range that runs backwards contains nothing. */
function rangesOf(characters: readonly string[]): string {
  let ranges = ''
  for (let at = 0; at < characters.length; at++) {
    const low = characters[at] as string
    const high = characters[at + 1] === '-' ? characters[at + 2] : undefined
    if (high === undefined) ranges += literal(low)
    else {
      if (codePoint(low) <= codePoint(high)) ranges += `${literal(low)}-${literal(high)}`
      at += 2
    }
  }
  return ranges
}

const codePoint = (character: string): number => character.codePointAt(0) as number

function literal(character: string): string {
  if (character === '-') return '\\x2d'
  return /[\^$\\.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character
}
