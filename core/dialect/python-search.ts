/** Searches and replaces in whole texts with regular expressions of Python's dialect, as `re.search` and `re.subn` do. */
import { beforeDeadline, isQuick, unlessTooLarge } from './bounded-regexp.ts'
import { invalidPatternError, translate } from './python-regexp-syntax.ts'

const DEADLINE_MS = 10_000

export interface PythonSearch {
  /** Whether the pattern matches anywhere in the text, as `re.search`. */
  found(text: string): boolean
  /** Whether the text begins with a match, as `re.match`. */
  begins(text: string): boolean
  /**
   * Return the groups of the first match, null for one that took no part; undefined if there is no match. With `atStart` the text
   * must begin with the match, as `re.match` wants it.
   */
  groups(text: string, options?: { readonly atStart?: boolean }): (string | null)[] | undefined
  /** `found` of each of many texts, at once. */
  foundIn(texts: readonly string[]): boolean[]
  /** `begins` of each of many texts, at once. */
  beginsIn(texts: readonly string[]): boolean[]
  /**
   * Replace the first `count` matches (0: all), as `re.subn`. In the replacement `\1`, `\g<name>` and escapes such as `\n` have
   * Python's meaning, unless it is `literal`.
   */
  replace(
    text: string,
    replacement: string,
    options?: { readonly count?: number; readonly literal?: boolean },
  ): { readonly text: string; readonly replaced: number }
}

/**
 * Compile a pattern for searching. `flags` are letters of Python's inline flags: `i`, `m`, `s`, `x`, `a`.
 * @throws SaltError TARGET_INVALID with the reason and position
 */
export function pythonSearch(pattern: string, flags = ''): PythonSearch {
  const translated = translate(flags === '' ? pattern : `(?${flags})${pattern}`, false)
  const { expression, groups } = translated
  const once = expression.flags.replace('y', '')
  const anywhere = new RegExp(expression.source, once)
  const begins = (text: string) => {
    expression.lastIndex = 0
    return expression.test(text)
  }
  /** A search may begin at each place of the text. */
  const sought = { ...translated, repetitions: translated.repetitions + 1 }
  const missed = () => {
    throw invalidPatternError(
      pattern,
      `it takes longer than ${DEADLINE_MS / 1000} s; write it without nested repetition`,
    )
  }
  const run = <T>(isQuickly: boolean, search: () => T): T =>
    unlessTooLarge(pattern, () => (isQuickly ? search() : beforeDeadline(DEADLINE_MS, search, missed)))
  return {
    found: (text) => run(isQuick(sought, text.length), () => anywhere.test(text)),
    begins: (text) => run(isQuick(translated, text.length), () => begins(text)),
    groups: (text, { atStart = false } = {}) =>
      run(isQuick(atStart ? translated : sought, text.length), () => {
        expression.lastIndex = 0
        const match = (atStart ? expression : anywhere).exec(text)
        return match ? groups.map((_, at) => match.groups?.[`g${at + 1}`] ?? null) : undefined
      }),
    foundIn: (texts) => run(false, () => texts.map((text) => anywhere.test(text))),
    beginsIn: (texts) => run(false, () => texts.map(begins)),
    replace(text, replacement, { count = 0, literal = false } = {}) {
      const fill = literal ? () => replacement : template(replacement, groups)
      const every = new RegExp(expression.source, `${once}g`)
      return run(false, () => replaceMatches(text, every, fill, count))
    },
  }
}

type Fill = (match: RegExpExecArray) => string

function replaceMatches(text: string, every: RegExp, fill: Fill, count: number) {
  let replaced = 0
  let from = 0
  let result = ''
  for (const match of text.matchAll(every)) {
    if (count > 0 && replaced === count) break
    result += text.slice(from, match.index) + fill(match)
    from = match.index + match[0].length
    replaced++
  }
  return { text: result + text.slice(from), replaced }
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
}

/** Parse a replacement into a function of the match. */
function template(replacement: string, groups: readonly string[]): Fill {
  const parts: (string | number)[] = []
  let from = 0
  for (const found of replacement.matchAll(
    /\\(?:g<([^>]*)>|(0[0-7]{0,2}|[1-3][0-7]{2})|([1-9]\d?)|([\s\S]?))/g,
  )) {
    parts.push(replacement.slice(from, found.index))
    from = found.index + found[0].length
    const [whole, name, octal, number, other] = found
    if (name !== undefined) parts.push(groupNumber(name, groups, replacement))
    else if (octal !== undefined) parts.push(String.fromCharCode(Number.parseInt(octal, 8)))
    else if (number !== undefined) parts.push(groupNumber(number, groups, replacement))
    else if (Object.hasOwn(ESCAPES, other ?? '')) parts.push(ESCAPES[other as string] as string)
    else if (/^[A-Za-z]?$/.test(other ?? ''))
      throw invalidPatternError(replacement, `bad escape ${whole} in the replacement`)
    else parts.push(whole)
  }
  parts.push(replacement.slice(from))
  return (match) => parts.map((part) => (typeof part === 'string' ? part : groupText(match, part))).join('')
}

const groupText = (match: RegExpExecArray, number: number): string =>
  (number === 0 ? match[0] : match.groups?.[`g${number}`]) ?? ''

function groupNumber(name: string, groups: readonly string[], replacement: string): number {
  const number = /^\d+$/.test(name) ? Number(name) : groups.indexOf(name) + 1 || -1
  if (number >= 0 && number <= groups.length) return number
  throw invalidPatternError(replacement, `invalid group reference ${name} in the replacement`)
}
