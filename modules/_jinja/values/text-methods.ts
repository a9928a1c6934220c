/** Methods of texts, as those of Python's `str`. */
import { isMapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import { TemplateError } from '../errors.ts'
import { bind, type Method, REQUIRED, withoutArguments } from './arguments.ts'
import { entries, getKey, hasKey } from './dicts.ts'
import { formatBraces } from './format-braces.ts'
import { checkLength, repeated } from './limits.ts'
import { integer } from './numbers.ts'
import type { CallArguments } from './objects.ts'
import { elements, isTrue } from './sequences.ts'
import { strictText } from './text.ts'

export const capitalized = (text: string): string => {
  const [first = '', ...rest] = text
  return first.toUpperCase() + rest.join('').toLowerCase()
}

export const isUpper = (text: string): boolean => /\p{L}/u.test(text) && text === text.toUpperCase()
export const isLower = (text: string): boolean => /\p{L}/u.test(text) && text === text.toLowerCase()

/** Begin each run of letters with a capital letter. */
const titled = (text: string): string => text.replaceAll(/\p{L}+/gu, capitalized)

const swapped = (text: string): string =>
  [...text].map((each) => (each === each.toUpperCase() ? each.toLowerCase() : each.toUpperCase())).join('')

const isAll = (pattern: RegExp) => withoutArguments((text: string) => text !== '' && pattern.test(text))

export const textMethods: Readonly<Record<string, Method<string>>> = {
  upper: withoutArguments((text: string) => text.toUpperCase()),
  lower: withoutArguments((text: string) => text.toLowerCase()),
  casefold: withoutArguments((text: string) => text.toLowerCase().replaceAll('ß', 'ss')),
  capitalize: withoutArguments(capitalized),
  title: withoutArguments(titled),
  swapcase: withoutArguments(swapped),
  isdigit: isAll(/^[\p{Nd}²³¹⁰⁴-⁹₀-₉]+$/u),
  isdecimal: isAll(/^\p{Nd}+$/u),
  isnumeric: isAll(/^\p{N}+$/u),
  isalpha: isAll(/^\p{L}+$/u),
  isalnum: isAll(/^[\p{L}\p{N}]+$/u),
  isascii: withoutArguments((text: string) => [...text].every((each) => each <= '\x7f')),
  isprintable: withoutArguments((text: string) => !/[\p{C}\p{Z}]/u.test(text.replaceAll(' ', ''))),
  isspace: isAll(/^\s+$/u),
  isidentifier: isAll(/^[\p{L}_][\p{L}\p{N}_]*$/u),
  isupper: withoutArguments(isUpper),
  islower: withoutArguments(isLower),
  istitle: withoutArguments((text: string) => /\p{L}/u.test(text) && text === titled(text)),
  splitlines: (text, given) => linesOf(text, isTrue(bind({ keepends: false }, given).keepends)),
  strip: (text, given) => stripped(text, bind({ chars: null }, given).chars, { atStart: true, atEnd: true }),
  lstrip: (text, given) => stripped(text, bind({ chars: null }, given).chars, { atStart: true }),
  rstrip: (text, given) => stripped(text, bind({ chars: null }, given).chars, { atEnd: true }),
  split: (text, given) => split(text, given, false),
  rsplit: (text, given) => split(text, given, true),
  partition: (text, given) => partition(text, string(given), false),
  rpartition: (text, given) => partition(text, string(given), true),
  replace(text, given) {
    const { old, new: other, count } = bind({ old: REQUIRED, new: REQUIRED, count: -1 }, given)
    return replaced(text, strictText(old), strictText(other), integer(count))
  },
  startswith: (text, given) => hasEnd(text, given, 'startsWith'),
  endswith: (text, given) => hasEnd(text, given, 'endsWith'),
  translate(text, given) {
    const { table } = bind({ table: REQUIRED }, given)
    return [...text].map((each) => translated(table, each)).join('')
  },
  removeprefix(text, given) {
    const prefix = string(given)
    return text.startsWith(prefix) ? text.slice(prefix.length) : text
  },
  removesuffix(text, given) {
    const suffix = string(given)
    return suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text
  },
  join: (text, given) =>
    elements(bind({ iterable: REQUIRED }, given).iterable)
      .map(strictText)
      .join(text),
  format: formatBraces,
  format_map(text, given) {
    const { mapping } = bind({ mapping: REQUIRED }, given)
    if (!isMapping(mapping)) throw new TemplateError('format_map takes a map')
    return formatBraces(text, { args: [], kwargs: new Map(entries(mapping) as [string, unknown][]) })
  },
  count(text, given) {
    const { wanted, part } = between(text, given)
    if (part === undefined) return 0
    return wanted === '' ? [...part].length + 1 : part.split(wanted).length - 1
  },
  find: (text, given) => searchIn(text, given, 'indexOf'),
  rfind: (text, given) => searchIn(text, given, 'lastIndexOf'),
  index: (text, given) => found(searchIn(text, given, 'indexOf')),
  rindex: (text, given) => found(searchIn(text, given, 'lastIndexOf')),
  zfill(text, given) {
    const width = integer(bind({ width: REQUIRED }, given).width)
    const [, sign = '', digits = ''] = /^([-+]?)([\s\S]*)$/.exec(text) ?? []
    return sign + repeated('0', width - [...text].length) + digits
  },
  ljust: (text, given) => padded(text, given, (missing) => [0, missing]),
  rjust: (text, given) => padded(text, given, (missing) => [missing, 0]),
  center: (text, given) => padded(text, given, (missing, width) => sidesOfCentered(missing, width)),
  expandtabs(text, given) {
    return withoutTabs(text, checkLength(integer(bind({ tabsize: 8 }, given).tabsize)))
  },
  encode(text, given) {
    const { encoding } = bind({ encoding: 'utf-8', errors: 'strict' }, given)
    return encoded(text, strictText(encoding))
  },
}

/** Fill up with spaces from each tab to the next column that is a multiple of `size`. */
function withoutTabs(text: string, size: number): string {
  let column = 0
  return text.replaceAll(/\t|[\r\n]|[^\t\r\n]+/g, (part) => {
    if (part === '\t') {
      const missing = size > 0 ? size - (column % size) : 0
      column += missing
      return ' '.repeat(missing)
    }
    column = part === '\n' || part === '\r' ? 0 : column + part.length
    return part
  })
}

/** The odd space is on the left if the width is odd. */
function sidesOfCentered(missing: number, width: number): [number, number] {
  const left = Math.floor(missing / 2) + (missing % 2 && width % 2 ? 1 : 0)
  return [left, missing - left]
}

export const centered = (text: string, width: number): string => {
  const [left, right] = sidesOfCentered(Math.max(width - [...text].length, 0), width)
  return repeated(' ', left) + text + repeated(' ', right)
}

const string = (given: CallArguments): string => strictText(bind({ text: REQUIRED }, given).text)

/** The part of a text that is searched, and where it begins, in characters. */
function between(
  text: string,
  given: CallArguments,
): { wanted: string; part: string | undefined; from: number } {
  const { sub, start, end } = bind({ sub: REQUIRED, start: null, end: null }, given)
  const [from, part] = partOf(text, start, end)
  return { wanted: strictText(sub), part, from }
}

/** No part is there if it would begin behind the end of the text. */
function partOf(text: string, start: unknown, end: unknown): [number, string | undefined] {
  if (start === null && end === null) return [0, text]
  const all = [...text]
  const bound = (at: number) => Math.max(at < 0 ? at + all.length : at, 0)
  const from = start === null ? 0 : bound(integer(start))
  if (from > all.length) return [from, undefined]
  return [from, all.slice(from, end === null ? all.length : bound(integer(end))).join('')]
}

function searchIn(text: string, given: CallArguments, search: 'indexOf' | 'lastIndexOf'): number {
  const { wanted, part, from } = between(text, given)
  const at = part?.[search](wanted) ?? -1
  return part === undefined || at < 0 ? -1 : from + [...part.slice(0, at)].length
}

function translated(table: unknown, character: string): string {
  const code = character.codePointAt(0)
  if (!isMapping(table) || !hasKey(table, code)) return character
  const other = getKey(table, code)
  if (other === null) return ''
  return typeof other === 'string' ? other : String.fromCodePoint(integer(other))
}

const SINGLE_BYTE: Readonly<Record<string, number>> = { ascii: 0x7f, latin1: 0xff, iso88591: 0xff }

export function encoded(text: string, encoding: string): Uint8Array {
  const name = encoding.toLowerCase().replaceAll(/[-_]/g, '')
  if (name === 'utf8') return Buffer.from(text)
  const last = SINGLE_BYTE[name]
  if (last === undefined) throw new TemplateError(`unknown encoding: ${encoding}`)
  if ([...text].some((each) => (each.codePointAt(0) as number) > last))
    throw new TemplateError(`'${encoding}' codec can't encode the text`)
  return Buffer.from(text, 'latin1')
}

function found(at: number): number {
  if (at < 0) throw new TemplateError('substring not found')
  return at
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: Python takes these separators for line breaks
const lineBreak = /\r\n|[\r\n\v\f\x1c-\x1e\u0085\u2028\u2029]/g

export function linesOf(text: string, keepsEnds = false): string[] {
  const lines: string[] = []
  let at = 0
  for (const { index, 0: end } of text.matchAll(lineBreak)) {
    lines.push(text.slice(at, keepsEnds ? index + end.length : index))
    at = index + end.length
  }
  return at < text.length ? [...lines, text.slice(at)] : lines
}

/** Remove white space, or these characters, from the ends. */
export function stripped(
  text: string,
  chars: unknown,
  { atStart = false, atEnd = false }: { readonly atStart?: boolean; readonly atEnd?: boolean },
): string {
  const isRemoved =
    chars === null ? (each: string) => /\s/.test(each) : (each: string) => strictText(chars).includes(each)
  const all = [...text]
  let [from, to] = [0, all.length]
  while (atStart && from < to && isRemoved(all[from] as string)) from++
  while (atEnd && to > from && isRemoved(all[to - 1] as string)) to--
  return all.slice(from, to).join('')
}

function split(text: string, given: CallArguments, fromRight: boolean): string[] {
  const { sep, maxsplit } = bind({ sep: null, maxsplit: -1 }, given)
  const max = integer(maxsplit)
  const limit = max < 0 ? Number.POSITIVE_INFINITY : max
  if (sep === null) return splitAtSpace(text, limit, fromRight)
  const separator = strictText(sep)
  if (separator === '') throw new TemplateError('empty separator')
  return fromRight ? splitFromRight(text, separator, limit) : splitAtSeparator(text, separator, limit)
}

/** Split into words. Beyond the limit the rest stays as it is. */
function splitAtSpace(text: string, limit: number, fromRight: boolean): string[] {
  const found = [...text.matchAll(/\S+/g)]
  const words = found.map(([word]) => word)
  if (words.length <= limit) return words
  if (!fromRight) return [...words.slice(0, limit), text.slice(found[limit]?.index)]
  const last = found[found.length - limit - 1] as RegExpExecArray
  return [text.slice(0, last.index + last[0].length), ...words.slice(words.length - limit)]
}

function splitAtSeparator(text: string, separator: string, limit: number): string[] {
  const parts: string[] = []
  let from = 0
  while (parts.length < limit) {
    const at = text.indexOf(separator, from)
    if (at < 0) break
    parts.push(text.slice(from, at))
    from = at + separator.length
  }
  return [...parts, text.slice(from)]
}

function splitFromRight(text: string, separator: string, limit: number): string[] {
  const parts: string[] = []
  let to = text.length
  while (parts.length < limit && to >= separator.length) {
    const at = text.lastIndexOf(separator, to - separator.length)
    if (at < 0) break
    parts.push(text.slice(at + separator.length, to))
    to = at
  }
  return [text.slice(0, to), ...parts.reverse()]
}

function partition(text: string, separator: string, fromRight: boolean): Tuple {
  if (separator === '') throw new TemplateError('empty separator')
  const at = fromRight ? text.lastIndexOf(separator) : text.indexOf(separator)
  if (at < 0) return fromRight ? Tuple.of('', '', text) : Tuple.of(text, '', '')
  return Tuple.of(text.slice(0, at), separator, text.slice(at + separator.length))
}

export function replaced(text: string, old: string, other: string, count: number): string {
  let left = count < 0 ? Number.POSITIVE_INFINITY : count
  return text.replaceAll(old, (all) => (left-- > 0 ? other : all))
}

function hasEnd(text: string, given: CallArguments, end: 'startsWith' | 'endsWith'): boolean {
  const { sub, start, end: stop } = bind({ sub: REQUIRED, start: null, end: null }, given)
  const all = sub instanceof Tuple ? sub : [sub]
  const [, part] = partOf(text, start, stop)
  return part !== undefined && all.some((each) => part[end](strictText(each)))
}

function padded(
  text: string,
  given: CallArguments,
  sides: (missing: number, width: number) => [number, number],
): string {
  const { width, fillchar } = bind({ width: REQUIRED, fillchar: ' ' }, given)
  const columns = integer(width)
  const [left, right] = sides(Math.max(columns - [...text].length, 0), columns)
  return repeated(strictText(fillchar), left) + text + repeated(strictText(fillchar), right)
}
