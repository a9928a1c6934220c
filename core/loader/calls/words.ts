/**
 * Words of a command line → values and job arguments, exactly as Salt's commands read them: `1` is a number, `[1, 2]` a
 * list, `name=value` a keyword argument. Recorded data of Salt: args.json.
 */
import { Float } from '../../codec/index.ts'
import { parseWord } from './word-yaml.ts'

export interface Arguments {
  readonly args: readonly unknown[]
  readonly kwargs: Readonly<Record<string, unknown>>
}

/**
 * A name, a single `=`, and a value on one line, with an optional line end: exactly what Python minions read as a keyword
 * argument, so that access rules about arguments apply to the arguments that functions receive.
 */
export const KEYWORD = /^([\p{L}\p{Nl}\p{No}_][\p{L}\p{N}_.-]*)=(?!=)([^\n]*)\n?$/u

/** Return the value of a word; a word that is not valid YAML stays text. */
export function yamlify(word: unknown): unknown {
  if (typeof word !== 'string' || mustStay(word)) return word
  if (word === 'None') return null
  try {
    return accepted(word, parseWord(word))
  } catch {
    return word
  }
}

/**
 * Convert words to job arguments (wire protocol §10.1): positional values, then the keyword arguments in one marked
 * map.
 */
export function parseInput(words: readonly unknown[], noParse: readonly string[] = []): unknown[] {
  const { args, kwargs } = parseWords(words, noParse)
  return Object.keys(kwargs).length > 0 ? [...args, { __kwarg__: true, ...kwargs }] : [...args]
}

/**
 * Convert words to positional and keyword arguments. Keywords named in `noParse` keep their text, and so do positional
 * arguments that could be job ids.
 */
export function parseWords(words: readonly unknown[], noParse: readonly string[] = []): Arguments {
  const args: unknown[] = []
  const kwargs = new Map<string, unknown>()
  for (const word of words) {
    const [, name, text = ''] = (typeof word === 'string' && KEYWORD.exec(word)) || []
    const marked = keywordMap(word)
    if (name !== undefined) kwargs.set(name, noParse.includes(name) ? text : yamlify(text))
    else if (marked) for (const [key, value] of Object.entries(marked)) kwargs.set(key, value)
    else args.push(jidAsText(yamlify(word)))
  }
  return { args, kwargs: Object.fromEntries(kwargs) }
}

/** Return an integer that could be a job id as text, as Salt does. */
const jidAsText = (value: unknown): unknown =>
  typeof value === 'bigint' && String(value).length === 20 ? String(value) : value

/**
 * Split the words of several functions. If there is one separator word fewer than functions, these separate the lists;
 * otherwise separators within words do, too (`'cat /etc/hosts',,foo`). Missing lists are empty.
 */
export function splitWords(words: readonly string[], separator: string, functions: number): string[][] {
  const lone = words.filter((word) => word === separator).length
  const lists: string[][] = [[]]
  for (const word of words) {
    if (!word.includes(separator) || (lone === functions - 1 && word !== separator)) lists.at(-1)?.push(word)
    else
      for (const [index, part] of word.split(separator).entries()) {
        if (index > 0) lists.push([])
        if (part !== '') lists.at(-1)?.push(part)
      }
  }
  while (lists.length < functions) lists.push([])
  return lists
}

/**
 * Whether a word must stay text: it is blank, has white space that YAML would fold, or digits with `_`, which YAML
 * would drop.
 */
function mustStay(word: string): boolean {
  return word.trim() === '' || /[\t\r\n]/.test(word) || (word.includes('_') && /^[\d_]+$/.test(word.trim()))
}

/**
 * Return the parsed value, or the word where Salt keeps it: maps and lists without brackets (`a: b`, `- x`), and text
 * with a `#`.
 */
function accepted(word: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return word
  const isBracketed = typeof value === 'object' && value !== null && !(value instanceof Float)
  if (isBracketed && !word.includes('#') && !/^[[{]/.test(word)) return word
  if (word.includes('#') && (value === null || typeof value === 'string')) return word
  if (value === '') return word === '|' || word === '!' ? word : value
  return value
}

function keywordMap(word: unknown): Record<string, unknown> | undefined {
  if (typeof word !== 'object' || word === null || !Object.hasOwn(word, '__kwarg__')) return undefined
  const { __kwarg__: marker, ...members } = word as Record<string, unknown>
  return marker === true ? members : undefined
}
