/** Splits the text of a template into its tokens (Jinja, "Template Designer Documentation"). */
import { pythonRepr } from '../../_values/python.ts'
import { TemplateSyntaxError } from '../errors.ts'

export type Token = { readonly line: number } & (
  | { readonly kind: 'data' | 'name' | 'operator' | 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly value: string; readonly isFloat: boolean }
  | {
      readonly kind: 'variable begin' | 'variable end' | 'block begin' | 'block end' | 'end'
      readonly value: ''
    }
)

/** How white space around tags is treated: the options of the same names of Jinja. */
export interface WhiteSpace {
  /** Remove the line break after a statement or comment. */
  readonly trim_blocks: boolean
  /** Remove the white space before a statement or comment that begins a line. */
  readonly lstrip_blocks: boolean
}

/** @throws TemplateSyntaxError */
export function tokenize(text: string, whiteSpace: WhiteSpace): Token[] {
  return new Lexer(text.replaceAll(/\r\n|\r/g, '\n').replace(/\n$/, ''), whiteSpace).run()
}

type Tag = 'variable' | 'block' | 'comment'

const tagOf: Readonly<Record<string, Tag>> = { '{{': 'variable', '{%': 'block', '{#': 'comment' }
const ends: Readonly<Record<'variable' | 'block', string>> = { variable: '}}', block: '%}' }
const opening: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
const closing = new Set(Object.values(opening))

const RAW = /\{%([-+]?)\s*raw\s*([-+]?)%\}/y
const END_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g
const SPACE = /\s+/y
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy
const NUMBER =
  /0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|\d(?:_?\d)*(?:\.\d(?:_?\d)*(?:[eE][+-]?\d(?:_?\d)*)?|[eE][+-]?\d(?:_?\d)*)|[1-9](?:_?\d)*|0(?:_?0)*/y
/** Behind a dot: `list.0.1`. */
const INDEX = /[1-9](?:_?\d)*|0(?:_?0)*/y
const STRING = /'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/y
const OPERATOR = /\*\*|\/\/|==|!=|<=|>=|[-+*/%~<>=.:|,;()[\]{}]/y

class Lexer {
  readonly #text: string
  readonly #whiteSpace: WhiteSpace
  readonly #tokens: Token[] = []
  #at = 0
  #line = 1

  constructor(text: string, whiteSpace: WhiteSpace) {
    this.#text = text
    this.#whiteSpace = whiteSpace
  }

  run(): Token[] {
    for (let tag = this.#nextTag(); tag !== undefined; tag = this.#nextTag()) {
      if (tag === 'comment') this.#comment()
      else if (tag === 'variable' || !this.#raw()) this.#expression(tag)
    }
    this.#data(this.#text.slice(this.#at))
    this.#tokens.push({ kind: 'end', value: '', line: this.#line })
    return this.#tokens
  }

  /** Take the text up to the next tag, and stop at the tag. */
  #nextTag(): Tag | undefined {
    const found = /\{[{%#]/g
    found.lastIndex = this.#at
    const match = found.exec(this.#text)
    if (!match) return undefined
    const tag = tagOf[match[0]] as Tag
    const sign = this.#text[match.index + 2] ?? ''
    this.#data(this.#before(this.#text.slice(this.#at, match.index), tag, sign))
    this.#moveTo(match.index)
    return tag
  }

  /** Remove what the sign of a tag, or `lstrip_blocks`, takes from the text before it. */
  #before(data: string, tag: Tag, sign: string): string {
    if (sign === '-') return data.trimEnd()
    if (!this.#whiteSpace.lstrip_blocks || tag === 'variable' || sign === '+') return data
    const stripped = data.replace(/[ \t]+$/, '')
    const beginsLine = stripped === '' ? this.#isAtLineStart() : stripped.endsWith('\n')
    return beginsLine ? stripped : data
  }

  #isAtLineStart(): boolean {
    return this.#at === 0 || this.#text[this.#at - 1] === '\n'
  }

  #data(value: string): void {
    if (value !== '') this.#tokens.push({ kind: 'data', value, line: this.#line })
  }

  #moveTo(index: number): void {
    for (
      let at = this.#text.indexOf('\n', this.#at);
      at >= 0 && at < index;
      at = this.#text.indexOf('\n', at + 1)
    )
      this.#line++
    this.#at = index
  }

  /** Move behind a tag, and behind what its sign, or `trim_blocks`, takes from the text after it. */
  #leave(index: number, sign: string, isTrimmed: boolean): void {
    let end = index
    if (sign === '-') end = index + (/^\s*/.exec(this.#text.slice(index))?.[0].length ?? 0)
    else if (isTrimmed && this.#whiteSpace.trim_blocks && sign !== '+' && this.#text[index] === '\n') end++
    this.#moveTo(end)
  }

  #comment(): void {
    const end = this.#text.indexOf('#}', this.#at + 2)
    if (end < 0) throw this.#wrong('Missing end of comment tag')
    const sign = this.#text[end - 1] ?? ''
    this.#leave(end + 2, end - 1 > this.#at + 1 && /[-+]/.test(sign) ? sign : '', true)
  }

  /** Take text between `{% raw %}` and `{% endraw %}` as it is. */
  #raw(): boolean {
    const begin = this.#match(RAW)
    if (!begin) return false
    this.#leave(this.#at + begin[0].length, begin[2] ?? '', true)
    END_RAW.lastIndex = this.#at
    const end = END_RAW.exec(this.#text)
    if (!end) throw this.#wrong('Missing end of raw directive')
    this.#data(this.#before(this.#text.slice(this.#at, end.index), 'block', end[1] ?? ''))
    this.#leave(end.index + end[0].length, end[2] ?? '', true)
    return true
  }

  #expression(tag: 'variable' | 'block'): void {
    this.#push(`${tag} begin`)
    this.#moveTo(this.#at + (/[-+]/.test(this.#text[this.#at + 2] ?? '') ? 3 : 2))
    const open: string[] = []
    for (;;) {
      const space = this.#match(SPACE)
      if (space) this.#moveTo(this.#at + space[0].length)
      if (this.#at >= this.#text.length) return
      const end = open.length === 0 ? this.#endOf(tag) : undefined
      if (end !== undefined) {
        this.#push(`${tag} end`)
        this.#leave(this.#at + end.length, end.length > 2 ? (end[0] as string) : '', tag === 'block')
        return
      }
      this.#token(open)
    }
  }

  #push(kind: 'variable begin' | 'variable end' | 'block begin' | 'block end'): void {
    this.#tokens.push({ kind, value: '', line: this.#line })
  }

  /** The end of a tag, with its sign, if it is here. */
  #endOf(tag: 'variable' | 'block'): string | undefined {
    const end = ends[tag]
    const signs = tag === 'block' ? ['', '-', '+'] : ['', '-']
    return signs.map((sign) => sign + end).find((each) => this.#text.startsWith(each, this.#at))
  }

  #token(open: string[]): void {
    const line = this.#line
    const name = this.#match(NAME)
    const number = name ? null : this.#match(this.#text[this.#at - 1] === '.' ? INDEX : NUMBER)
    const string = name || number ? null : this.#match(STRING)
    const operator = name || number || string ? null : this.#match(OPERATOR)
    if (name) this.#tokens.push({ kind: 'name', value: name[0], line })
    else if (number) this.#tokens.push({ kind: 'number', ...numberOf(number[0]), line })
    else if (string) this.#tokens.push({ kind: 'string', value: this.#string(string[0].slice(1, -1)), line })
    else if (operator) this.#operator(operator[0], open)
    else throw this.#unexpected()
    const [found] = (name ?? number ?? string ?? operator) as RegExpExecArray
    this.#moveTo(this.#at + found.length)
  }

  #string(text: string): string {
    const broken =
      /(?:^|[^\\])(?:\\\\)*\\(?:(x)(?![\da-fA-F]{2})|(u)(?![\da-fA-F]{4})|(U)(?![\da-fA-F]{8}))/.exec(text)
    if (!broken) return unescaped(text)
    const letter = broken[1] ?? broken[2] ?? broken[3] ?? ''
    const digits = { x: 2, u: 4, U: 8 }[letter] ?? 0
    throw this.#wrong(`truncated \\${letter}${'X'.repeat(digits)} escape`)
  }

  #operator(value: string, open: string[]): void {
    const end = opening[value]
    if (end !== undefined) open.push(end)
    if (closing.has(value)) {
      const expected = open.pop()
      if (expected === undefined) throw this.#wrong(`unexpected '${value}'`)
      if (expected !== value) throw this.#wrong(`unexpected '${value}', expected '${expected}'`)
    }
    this.#tokens.push({ kind: 'operator', value, line: this.#line })
  }

  #unexpected(): TemplateSyntaxError {
    const character = this.#text[this.#at] as string
    return this.#wrong(`unexpected char ${pythonRepr(character)} at ${this.#at}`)
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)
  }

  #wrong(message: string): TemplateSyntaxError {
    return new TemplateSyntaxError(message, { line: this.#line })
  }
}

function numberOf(text: string): { value: string; isFloat: boolean } {
  const value = text.replaceAll('_', '')
  return { value, isFloat: !/^0[xob]/i.test(value) && /[.eE]/.test(value) }
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '\n': '',
}

function characterOf(code: number): string {
  if (code > 0x10ffff) throw new TemplateSyntaxError('illegal Unicode character')
  return String.fromCodePoint(code)
}

/** Replace the escapes of a string literal of Python. */
const unescaped = (text: string): string =>
  text.replaceAll(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([\s\S]))/g,
    (all, x: string, u: string, wide: string, octal: string, character: string) => {
      const hex = x ?? u ?? wide
      if (hex !== undefined) return characterOf(Number.parseInt(hex, 16))
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8))
      if (/['"\\]/.test(character)) return character
      return escapes[character] ?? all
    },
  )
