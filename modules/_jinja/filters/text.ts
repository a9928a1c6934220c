/** The filters of Jinja for texts and numbers. */
import { pythonRepr } from '../../_values/python.ts'
import { isMapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import type { Filter } from '../environment.ts'
import { TemplateError } from '../errors.ts'
import { bind, REQUIRED, withoutArguments } from '../values/arguments.ts'
import { entries } from '../values/dicts.ts'
import { formatPercent } from '../values/format-percent.ts'
import { fixed } from '../values/format-spec.ts'
import { repeated } from '../values/limits.ts'
import { pairs } from '../values/methods.ts'
import { float, integer, isFloat, isNumber, shrunk } from '../values/numbers.ts'
import { type CallArguments, typeOf, Undefined } from '../values/objects.ts'
import { readFloat, readInteger } from '../values/read-number.ts'
import { isIterable, isTrue } from '../values/sequences.ts'
import { strictText, text } from '../values/text.ts'
import { capitalized, centered, linesOf, replaced, stripped } from '../values/text-methods.ts'

/** Make a filter of any values as texts, which takes no arguments. */
const asText = (change: (shown: string) => unknown): Filter =>
  withoutArguments((value) => change(text(value)))

const htmlEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
}
const escapeHtml = (shown: string): string =>
  shown.replaceAll(/[&<>"']/g, (each) => htmlEscapes[each] as string)

const htmlNames: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
}
function unescapedHtml(reference: string): string {
  const name = reference.slice(1, -1)
  if (!name.startsWith('#')) return htmlNames[name.toLowerCase()] ?? reference
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code)
}

/** Remove what begins and ends with these; what is not ended stays. */
function withoutParts(shown: string, begin: string, end: string): string {
  let [kept, at] = ['', 0]
  for (;;) {
    const from = shown.indexOf(begin, at)
    const to = from < 0 ? -1 : shown.indexOf(end, from)
    if (to < 0) return kept + shown.slice(at)
    kept += shown.slice(at, from)
    at = to + end.length
  }
}

export const textFilters: Readonly<Record<string, Filter>> = {
  upper: asText((shown) => shown.toUpperCase()),
  lower: asText((shown) => shown.toLowerCase()),
  capitalize: asText(capitalized),
  title: asText((shown) => shown.replaceAll(/[^-\s({[<]+/g, capitalized)),
  string: asText((shown) => shown),
  safe: asText((shown) => shown),
  escape: asText(escapeHtml),
  e: asText(escapeHtml),
  forceescape: asText(escapeHtml),
  striptags: asText((shown) =>
    withoutParts(withoutParts(shown, '<!--', '-->'), '<', '>')
      .replaceAll(/&(?:amp|lt|gt|quot|apos|nbsp|#x[\da-f]+|#\d+);/gi, unescapedHtml)
      .split(/\s+/)
      .filter((word) => word !== '')
      .join(' '),
  ),
  wordcount: asText((shown) => shown.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
  pprint: withoutArguments((value) => pythonRepr(withSortedKeys(value))),
  trim(value, given) {
    const { chars } = bind({ chars: null }, given)
    return stripped(text(value), chars, { atStart: true, atEnd: true })
  },
  center: (value, given) => centered(text(value), integer(bind({ width: 80 }, given).width)),
  replace(value, given) {
    const { old, new: other, count } = bind({ old: REQUIRED, new: REQUIRED, count: null }, given)
    return replaced(text(value), text(old), text(other), count === null ? -1 : integer(count))
  },
  format: (value, { args, kwargs }) =>
    formatPercent(text(value), kwargs.size > 0 ? new Map(kwargs) : Tuple.from(args)),
  indent,
  truncate,
  wordwrap,
  urlencode: withoutArguments((value) => {
    if (typeof value === 'string' || !isIterable(value)) return urlEncoded(text(value), '/')
    return pairs(value)
      .map((pair) => pair.map((each) => urlEncoded(text(each), ' ').replaceAll(' ', '+')).join('='))
      .join('&')
  }),
  xmlattr(value, given) {
    const { autospace } = bind({ autospace: true }, given)
    const all = pairs(value)
    const wrong = all.map(([key]) => text(key)).find((key) => /\s/.test(key))
    if (wrong !== undefined)
      throw new TemplateError(`Invalid character in attribute name: ${pythonRepr(wrong)}`)
    const shown = all
      .filter(([, inner]) => inner !== null && !(inner instanceof Undefined))
      .map(([key, inner]) => `${escapeHtml(text(key))}="${escapeHtml(text(inner))}"`)
      .join(' ')
    return isTrue(autospace) && shown !== '' ? ` ${shown}` : shown
  },
  filesizeformat,
}

/** Sort the keys of maps, as Python's `pprint` does. */
export function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value))
    return value instanceof Tuple ? Tuple.from(value.map(withSortedKeys)) : value.map(withSortedKeys)
  if (!isMapping(value)) return value
  const pairs = entries(value).map(([key, inner]) => [key, withSortedKeys(inner)] as const)
  return new Map(pairs.sort(([a], [b]) => (text(a) < text(b) ? -1 : 1)))
}

/** Encode as Python's `urllib.parse.quote` does. */
const urlEncoded = (shown: string, safe: string): string =>
  [...Buffer.from(shown)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[\w.~-]/.test(character) || safe.includes(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')

/** No float has more digits that JavaScript shows. */
const MAX_PRECISION = 100

export const numberFilters: Readonly<Record<string, Filter>> = {
  int(value, given) {
    const { default: fallback, base } = bind({ default: 0, base: 10 }, given)
    if (value instanceof Undefined) return value.isAllowed ? fallback : value.use()
    return integerOf(value, integer(base)) ?? fallback
  },
  float(value, given) {
    const { default: fallback } = bind({ default: float(0) }, given)
    if (value instanceof Undefined) return value.isAllowed ? fallback : value.use()
    if (isNumber(value)) return float(Number(value))
    const number = typeof value === 'string' ? readFloat(value) : undefined
    return number === undefined ? fallback : float(number)
  },
  abs: withoutArguments((value) => {
    if (!isNumber(value)) throw new TemplateError(`bad operand type for abs(): '${typeOf(value)}'`)
    if (typeof value === 'bigint') return value < 0n ? -value : value
    return isFloat(value) ? float(Math.abs(Number(value))) : Math.abs(Number(value))
  }),
  round(value, given) {
    const { precision, method } = bind({ precision: 0, method: 'common' }, given)
    if (!isNumber(value)) throw new TemplateError(`type ${typeOf(value)} doesn't define __round__ method`)
    return rounded(Number(value), Math.min(integer(precision), MAX_PRECISION), text(method), isFloat(value))
  },
}

/** The whole part of a float, if it has one. */
const wholeOf = (value: number): number | bigint | undefined =>
  Number.isFinite(value) ? shrunk(BigInt(Math.trunc(value))) : undefined

function integerOf(value: unknown, base: number): unknown {
  if (isNumber(value)) return isFloat(value) ? wholeOf(Number(value)) : shrunk(BigInt(value.valueOf()))
  if (typeof value !== 'string') return undefined
  return readInteger(value, base) ?? wholeOf(readFloat(value) ?? Number.NaN)
}

/** Half is rounded to even, as in Python. */
function rounded(value: number, precision: number, method: string, wasFloat: boolean): unknown {
  const factor = 10 ** precision
  if (method === 'ceil') return float(Math.ceil(value * factor) / factor)
  if (method === 'floor') return float(Math.floor(value * factor) / factor)
  if (method !== 'common') throw new TemplateError('method must be common, ceil or floor')
  if (!wasFloat) return precision >= 0 ? value : toEven(value * factor) / factor
  if (precision > 0) return float(Math.sign(value) * Number(fixed(Math.abs(value), precision)))
  return float(toEven(value * factor) / factor)
}

function toEven(value: number): number {
  const below = Math.floor(value)
  if (value - below !== 0.5) return Math.round(value)
  return below % 2 === 0 ? below : below + 1
}

function indent(value: unknown, given: CallArguments): string {
  const { width, first, blank } = bind({ width: 4, first: false, blank: false }, given)
  const space = typeof width === 'string' ? width : repeated(' ', integer(width))
  const [start = '', ...rest] = linesOf(`${strictText(value)}\n`)
  const indented = rest.map((line) => (isTrue(blank) || line !== '' ? space + line : line))
  return [isTrue(first) ? space + start : start, ...indented].join('\n')
}

function truncate(value: unknown, given: CallArguments): string {
  const { length, killwords, end, leeway } = bind(
    { length: 255, killwords: false, end: '...', leeway: null },
    given,
  )
  const all = [...text(value)]
  const [limit, ending] = [integer(length), text(end)]
  if (limit < ending.length) throw new TemplateError(`expected length >= ${ending.length}, got ${limit}`)
  if (all.length <= limit + (leeway === null ? 5 : integer(leeway))) return all.join('')
  const cut = all.slice(0, limit - ending.length).join('')
  if (isTrue(killwords)) return cut + ending
  const space = cut.lastIndexOf(' ')
  return (space < 0 ? cut : cut.slice(0, space)) + ending
}

function wordwrap(value: unknown, given: CallArguments): string {
  const { width, break_long_words, wrapstring, break_on_hyphens } = bind(
    { width: 79, break_long_words: true, wrapstring: '\n', break_on_hyphens: true },
    given,
  )
  const limit = integer(width)
  if (limit <= 0) throw new TemplateError(`invalid width ${limit} (must be > 0)`)
  const between = isTrue(break_on_hyphens) ? /(?<=[^ ]-)(?=[^ -])|( +)/ : /( +)/
  const wrapped = linesOf(text(value)).map((line) =>
    wrapLine(line.split(between), limit, isTrue(break_long_words)),
  )
  return wrapped.map((lines) => lines.join(text(wrapstring))).join(text(wrapstring))
}

function wrapLine(words: readonly (string | undefined)[], width: number, breaksWords: boolean): string[] {
  const lines: string[] = []
  let current = ''
  for (const word of words) {
    if (word === undefined || word === '') continue
    if (current.length + word.length > width && current !== '') {
      lines.push(current.trimEnd())
      current = ''
    }
    if (current === '' && /^ +$/.test(word) && lines.length > 0) continue
    let rest = word
    while (breaksWords && rest.length > width) {
      lines.push(rest.slice(0, width))
      rest = rest.slice(width)
    }
    current += rest
  }
  return current.trim() === '' && lines.length > 0 ? lines : [...lines, current.trimEnd()]
}

function filesizeformat(value: unknown, given: CallArguments): string {
  const { binary } = bind({ binary: false }, given)
  const bytes = Number(isNumber(value) ? value : text(value))
  if (Number.isNaN(bytes)) throw new TemplateError(`could not convert string to float: ${pythonRepr(value)}`)
  const base = isTrue(binary) ? 1024 : 1000
  if (bytes === 1) return '1 Byte'
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`
  const power = Math.min(Math.floor(Math.log(bytes) / Math.log(base)), 8)
  const unit = 'kMGTPEZY'[power - 1] as string
  return `${(bytes / base ** power).toFixed(1)} ${isTrue(binary) ? `${unit.toUpperCase()}iB` : `${unit}B`}`
}
