/**
 * Parses one line of YAML 1.1: a plain or quoted scalar, or a flow list or map. Anything that needs more than one line, or
 * is a block list or map, is refused: such a word of a command line stays text. This parser exists because every command
 * needs it, and loading a YAML library would take longer than everything else.
 */
import { Float } from '../../codec/index.ts'
import { scalarKinds } from '../../config/scalar.ts'

/** Levels of nesting. */
const MAX_DEPTH = 64
/** Total length of the values that aliases repeat, in characters, since writing out the value repeats them. */
const MAX_REPEATED = 100_000

/** Parse a word. Throws an error if it is not exactly one scalar or bracketed value. */
export function parseWord(word: string): unknown {
  if (/^(?:---|\.\.\.)\s*$/.test(word.trim()) || /^\.\.\. /.test(word)) throw refused('a document mark')
  if (UNREADABLE.test(word)) throw refused('a control character or a line end')
  const reader = new Reader(word.replace(/^--- +/, ''))
  return reader.document()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression is there to find control characters
const UNREADABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/

/** A member of a bracketed word: its value, and its text if that has no quotes, tag, anchor or alias. */
export interface Part {
  readonly value: unknown
  readonly text?: string
}

/**
 * Return the members of a list, or the keys and values of a map alternating, one level deep. Throws like
 * {@link parseWord}.
 */
export function parseParts(word: string): Part[] {
  const reader = new Reader(word)
  reader.document()
  return reader.parts
}

class Reader {
  readonly #text: string
  /** The members directly inside the outer brackets, in order. */
  readonly parts: Part[] = []
  readonly #anchors = new Map<string, { readonly value: unknown; readonly size: number }>()
  #at = 0
  /** Length of the values that aliases have repeated so far, in characters. */
  #repeated = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): unknown {
    this.#spaces()
    const value = this.#node(0)
    this.#spaces()
    if (this.#at < this.#text.length && !this.#isComment()) throw refused('more than one value')
    return value
  }

  /** Read a value. `depth` is 0 for the word itself, and greater inside brackets. */
  #node(depth: number): unknown {
    if (depth > MAX_DEPTH) throw refused('nesting')
    const { tag, anchor } = this.#properties()
    const [start, repeated] = [this.#at, this.#repeated]
    const value = this.#content(depth, tag)
    const size = this.#at - start + this.#repeated - repeated
    if (anchor !== undefined) this.#anchors.set(anchor, { value, size })
    const text = this.#text.slice(start, this.#at).trimEnd()
    const isBare = tag === undefined && anchor === undefined && !/^['"*]/.test(text)
    if (depth === 1) this.parts.push({ value, ...(isBare && { text }) })
    return value
  }

  #properties(): { tag?: string; anchor?: string } {
    const found: { tag?: string; anchor?: string } = {}
    for (;;) {
      const [all, isAnchor, anchor, , tag] =
        this.#match(/(&)([\w-]+)(?=$|[ ?:,\]}%@`])|(!)(<[^\s>]*>|[^\s,[\]{}]*)(?=$|[ ,])/y) ?? []
      if (all === undefined) return found
      if (isAnchor) found.anchor = anchor as string
      else found.tag = tag as string
      this.#spaces()
    }
  }

  #content(depth: number, tag: string | undefined): unknown {
    const character = this.#text[this.#at]
    if (character === '[' || character === '{') {
      if (tag !== undefined && tag !== (character === '[' ? '!seq' : '!map')) throw refused('a tag')
      return character === '[' ? this.#list(depth) : this.#map(depth)
    }
    if (character === "'" || character === '"') return withTag(tag ?? '!str', this.#quoted(character))
    if (character === '*') return this.#alias()
    if (character === '|' || character === '>') return this.#block(depth, tag)
    const text = this.#plain(depth)
    return tag === undefined || (tag === '' && text !== '') ? plainValue(text) : withTag(tag, text)
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = []
    this.#at++
    while (!this.#closes(']')) {
      const marked = this.#keyMark()
      const value = this.#member(depth)
      list.push(this.#colon() || marked ? this.#pair(value, depth) : value)
      this.#comma(']')
    }
    return list
  }

  /** Read the value of a pair in a list: `[a: b]` is a list of a map. */
  #pair(key: unknown, depth: number): unknown {
    const place = this.parts.length - 1
    const pair = mapOf([[key, this.#value(depth)]])
    if (depth === 0) this.parts.splice(place, 2, { value: pair })
    return pair
  }

  #map(depth: number): unknown {
    const entries: [unknown, unknown][] = []
    this.#at++
    while (!this.#closes('}')) {
      this.#keyMark()
      const key = this.#member(depth)
      entries.push([key, this.#colon() ? this.#value(depth) : this.#nothing(depth)])
      this.#comma('}')
    }
    return mapOf(entries)
  }

  /** Skip the mark of `? key`; inside brackets the space is optional. */
  #keyMark(): boolean {
    return this.#match(/\? */y) !== undefined
  }

  /** Read the header of a block scalar. Its text would begin on the next line, so it is empty. */
  #block(depth: number, tag: string | undefined): unknown {
    if (depth > 0 || !this.#match(/[|>](?:[+-]?[1-9]?|[1-9][+-])(?= *$)/y)) throw refused('a block')
    return withTag(tag ?? '!str', '')
  }

  /** Read a member; there must be one between two commas. */
  #member(depth: number): unknown {
    if (this.#text[this.#at] === ',') throw refused('a value is missing before a comma')
    return this.#node(depth + 1)
  }

  /** Read the value after a colon inside brackets; an absent one is null. */
  #value(depth: number): unknown {
    this.#spaces()
    return /[,\]}]/.test(this.#text[this.#at] ?? ',') ? this.#nothing(depth) : this.#node(depth + 1)
  }

  #nothing(depth: number): null {
    if (depth === 0) this.parts.push({ value: null })
    return null
  }

  #colon(): boolean {
    this.#spaces()
    return this.#match(/:/y) !== undefined
  }

  #closes(bracket: string): boolean {
    this.#spaces()
    if (this.#text[this.#at] !== bracket) return false
    this.#at++
    return true
  }

  #comma(bracket: string): void {
    this.#spaces()
    if (this.#text[this.#at] !== bracket && !this.#match(/,/y)) throw refused(`'${bracket}' is missing`)
  }

  #quoted(quote: string): string {
    const pattern = quote === "'" ? /'((?:[^']|'')*)'/y : /"((?:[^"\\]|\\.)*)"/y
    const inner = this.#match(pattern)?.[1]
    if (inner === undefined) throw refused('an open quote')
    return quote === "'" ? inner.replaceAll("''", "'") : unescaped(inner)
  }

  #alias(): unknown {
    const name = this.#match(/\*([^\s,[\]{}]+)/y)?.[1]
    const anchor = name === undefined ? undefined : this.#anchors.get(name)
    if (!anchor) throw refused('an unknown alias')
    this.#repeated += anchor.size
    if (this.#repeated > MAX_REPEATED) throw refused('aliases expand to too much data')
    return anchor.value
  }

  /** Read a plain scalar, up to ` #`, `: ` or, inside brackets, a bracket or comma. It may be empty. */
  #plain(depth: number): string {
    const inside = depth > 0
    const rest = this.#text.slice(this.#at)
    if (rest === '' || rest.startsWith('#') || (inside && /^[,\]}]/.test(rest))) return ''
    if (/^[-?:,[\]{}#&*!|>'"%@`]/.test(rest) && !(inside ? /^-[^ ]/ : /^[-?:][^ ]/).test(rest))
      throw refused('a sign')
    const end = rest.search(inside ? /[,[\]{}]|:(?=$|[ ,[\]{}])| #/ : /:(?=$| )| #/)
    const colon = end >= 0 && rest[end] === ':'
    if (colon && (!inside || /[,[\]{}]/.test(rest[end + 1] ?? ''))) throw refused('a colon')
    const text = end < 0 ? rest : rest.slice(0, end)
    this.#at += text.length
    return text.replace(/ +$/, '')
  }

  #isComment(): boolean {
    return this.#text[this.#at] === '#' && (this.#at === 0 || this.#text[this.#at - 1] === ' ')
  }

  #spaces(): void {
    this.#match(/ */y)
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match) this.#at = pattern.lastIndex
    return match ?? undefined
  }
}

function plainValue(text: string): unknown {
  if (text === '=' || text === '<<') throw refused('a sign')
  const kind = scalarKinds.find(({ test }) => test.test(text))
  const value = kind ? kind.resolve(text) : text
  return kind?.tag.endsWith(':float') && Number.isInteger(value) ? new Float(value as number) : value
}

const YAML_TAG = /^(?:!|<tag:yaml\.org,2002:(?=.*>))(\w+)>?$/

function withTag(tag: string, text: string): unknown {
  const name = tag === '' ? 'str' : YAML_TAG.exec(tag)?.[1]
  if (name === 'str' || name === 'timestamp') return text
  if (name === 'binary') return Buffer.from(text, 'base64')
  const kind = scalarKinds.find((candidate) => candidate.tag === `tag:yaml.org,2002:${name}`)
  const isNumber =
    name === 'float' && scalarKinds.some(({ tag: other, test }) => other.endsWith(':int') && test.test(text))
  if (!kind || !(isNumber || kind.test.test(text))) throw refused('an unknown tag')
  const value = kind.resolve(text)
  return name === 'float' && Number.isInteger(value) ? new Float(value as number) : value
}

/** Make a plain object if every key is text, else a Map. Equal keys are refused. */
function mapOf(entries: [unknown, unknown][]): unknown {
  if (entries.some(([key]) => typeof key === 'object' && key !== null && !(key instanceof Float)))
    throw refused('a key that is not a scalar')
  const map = new Map(entries)
  if (map.size < entries.length) throw refused('a key twice')
  const plain = entries.every(([key]) => typeof key === 'string' && key !== '__proto__' && key !== '<<')
  return plain ? Object.fromEntries(entries) : map
}

const ESCAPED: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/g,
    (_, x, u, U, character) => {
      if (character === undefined) return String.fromCodePoint(Number.parseInt(x ?? u ?? U, 16))
      const found = Object.hasOwn(ESCAPED, character) ? ESCAPED[character] : undefined
      if (found === undefined) throw refused('an unknown escape')
      return found
    },
  )
}

const refused = (what: string): Error => new Error(`not one YAML value on one line: ${what}`)
