/**
 * One line of YAML 1.1 as a value: a plain or quoted scalar, or a flow list or map. Everything that needs more than
 * one line, or would give a block list or map, is refused: as a word of a command line it means itself. Written by
 * hand because it is on the way of every command, where loading a YAML library would cost more than the rest.
 */
import { Float } from '../codec/index.ts'
import { scalarKinds } from '../config/scalar.ts'

const DEEPEST = 64
/** What aliases stand for, in characters: whoever writes the value out, writes all of that. */
const MOST_REPEATED = 100_000

/** Throws (anything) if the word is not one scalar or bracketed value. */
export function parseWord(word: string): unknown {
  if (/^(?:---|\.\.\.)\s*$/.test(word.trim()) || /^\.\.\. /.test(word)) throw refused('a document mark')
  if (UNREADABLE.test(word)) throw refused('a control character or a line end')
  const reader = new Reader(word.replace(/^--- +/, ''))
  return reader.document()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const UNREADABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/

/** A member of a bracketed word: its value, and the text it was read from if that was neither quoted nor marked. */
export interface Part {
  readonly value: unknown
  readonly text?: string
}

/** The members of a list, or keys and values of a map in turn, one level deep. Throws what {@link parseWord} throws. */
export function parseParts(word: string): Part[] {
  const reader = new Reader(word)
  reader.document()
  return reader.parts
}

class Reader {
  readonly #text: string
  /** What stands directly inside the outer brackets, in order. */
  readonly parts: Part[] = []
  readonly #anchors = new Map<string, { readonly value: unknown; readonly size: number }>()
  #at = 0
  /** Characters that aliases stood for so far. */
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

  /** `depth` 0 is the word itself, more is inside brackets. */
  #node(depth: number): unknown {
    if (depth > DEEPEST) throw refused('nesting')
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

  /** `[a: b]` is a list of a map. */
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

  /** `? key`, which inside brackets may come without a space. */
  #keyMark(): boolean {
    return this.#match(/\? */y) !== undefined
  }

  /** A block of text begins on the next line, and there is none. */
  #block(depth: number, tag: string | undefined): unknown {
    if (depth > 0 || !this.#match(/[|>](?:[+-]?[1-9]?|[1-9][+-])(?= *$)/y)) throw refused('a block')
    return withTag(tag ?? '!str', '')
  }

  /** Something must stand between commas. */
  #member(depth: number): unknown {
    if (this.#text[this.#at] === ',') throw refused('nothing before a comma')
    return this.#node(depth + 1)
  }

  /** What follows a colon inside brackets; nothing is null. */
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
    if (this.#text[this.#at] !== bracket && !this.#match(/,/y)) throw refused(`no ${bracket}`)
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
    if (this.#repeated > MOST_REPEATED) throw refused('too much that is repeated')
    return anchor.value
  }

  /** Up to ` #`, `: ` or, inside brackets, a bracket or comma. Empty where nothing stands. */
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

/** A plain object if every key is text, else a Map. Equal keys are refused. */
function mapOf(entries: [unknown, unknown][]): unknown {
  if (entries.some(([key]) => typeof key === 'object' && key !== null && !(key instanceof Float)))
    throw refused('a key that is no scalar')
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
      const meant = Object.hasOwn(ESCAPED, character) ? ESCAPED[character] : undefined
      if (meant === undefined) throw refused('an unknown escape')
      return meant
    },
  )
}

const refused = (what: string): Error => new Error(`not a value: ${what}`)
