import { TemplateSyntaxError } from '../errors.ts'
import type { Token } from './lexer.ts'

/** Python's parser refuses about as many. */
const MAX_NESTING = 200
/** Operators or filters in a row. */
const MAX_CHAIN = 1000
export const TOO_DEEP = 'the template is nested too deeply'

/** The tokens of a template, read one after the other. */
export class TokenStream {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get current(): Token {
    return this.#tokens[this.#at] as Token
  }

  get line(): number {
    return this.current.line
  }

  next(): Token {
    const { current } = this
    if (current.kind !== 'end') this.#at++
    return current
  }

  isNext(kind: Token['kind'], value?: string): boolean {
    const { current } = this
    return current.kind === kind && (value === undefined || current.value === value)
  }

  isOperator(value: string): boolean {
    return this.isNext('operator', value)
  }

  isName(...values: string[]): boolean {
    return values.some((value) => this.isNext('name', value))
  }

  /** Take the next token if it is this one. */
  skip(kind: Token['kind'], value?: string): boolean {
    const isHere = this.isNext(kind, value)
    if (isHere) this.#at++
    return isHere
  }

  /** Take the next token if it is one of these operators, and return it. */
  skipOperator<T extends string>(operators: readonly T[]): T | undefined {
    const found = operators.find((operator) => this.isOperator(operator))
    if (found !== undefined) this.#at++
    return found
  }

  expect(kind: Token['kind'], value?: string): Token {
    if (!this.isNext(kind, value)) throw this.unexpected(value ?? kind)
    return this.next()
  }

  name(): string {
    return this.expect('name').value
  }

  /** Read what is inside something else. @throws TemplateSyntaxError if that is too deep to be evaluated */
  nested<T>(read: () => T): T {
    if (this.#depth >= MAX_NESTING) throw this.wrong(TOO_DEEP)
    this.#depth++
    try {
      return read()
    } finally {
      this.#depth--
    }
  }

  /** Return what counts an operator or filter in a row with others: they are evaluated inside each other, too. */
  chain(): () => void {
    let length = 0
    return () => {
      if (++length > MAX_CHAIN) throw this.wrong(TOO_DEEP)
    }
  }

  unexpected(expected: string): TemplateSyntaxError {
    const wanted = shown[expected] ?? expected
    if (this.isNext('end')) return this.wrong(`unexpected end of template, expected '${wanted}'.`)
    return this.wrong(`expected token '${wanted}', got '${labelOf(this.current)}'`)
  }

  wrong(message: string, line = this.line): TemplateSyntaxError {
    return new TemplateSyntaxError(message, { line })
  }
}

/** What Jinja calls them. */
const shown: Readonly<Record<string, string>> = {
  'variable end': 'end of print statement',
  'block end': 'end of statement block',
  'variable begin': 'begin of print statement',
  'block begin': 'begin of statement block',
  end: 'end of template',
  data: 'template data / text',
}

/** What Jinja calls a token in messages. */
export function labelOf(token: Token): string {
  if (token.kind === 'number') return token.isFloat ? 'float' : 'integer'
  return token.kind === 'string' ? 'string' : (shown[token.kind] ?? (token.value || token.kind))
}
