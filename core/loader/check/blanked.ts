/** The code in a text of JavaScript or TypeScript: positions of what is found in it are those in the text. */

export interface Span {
  readonly from: number
  readonly to: number
}

const TOKEN =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<quoted>'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?)|[\w$]+|\S/g
/** A part of a template literal: up to its end, or to an expression in it. */
const TEMPLATE_PART = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/y
const REGEXP = /\/(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y

/** What may stand before a regular expression; after anything else `/` divides. */
const BEFORE_REGEXP =
  /^(?:[(,=:[!&|?{;+\-*%<>~^]|return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield)$/

/** Replaces by blanks what is not code: comments, and the content of strings and regular expressions. */
export class Blanked {
  readonly code: string
  /** Positions of the doc comments. */
  readonly docs: Span[] = []
  readonly #text: string
  readonly #parts: string[] = []
  #done = 0

  constructor(text: string) {
    this.#text = text
    this.#scan()
    this.code = this.#parts.join('') + text.slice(this.#done)
  }

  #scan(): void {
    /** For each open brace, whether it is that of an expression in a template literal. */
    const braces: boolean[] = []
    let before = '('
    TOKEN.lastIndex = 0
    for (let match = TOKEN.exec(this.#text); match; match = TOKEN.exec(this.#text)) {
      const [token] = match
      const [from, to] = [match.index, match.index + token.length]
      if (match.groups?.comment !== undefined) {
        this.#comment(from, to)
        continue
      }
      if (match.groups?.quoted !== undefined) this.#blank(from + 1, isClosed(token) ? to - 1 : to)
      if (token === '{') braces.push(false)
      if (token === '/' && BEFORE_REGEXP.test(before)) this.#regularExpression(from)
      before = token
      if (token !== '`' && !(token === '}' && braces.pop())) continue
      const opens = this.#templatePart(to)
      if (opens) braces.push(true)
      before = opens ? '{' : '`'
    }
  }

  #comment(from: number, to: number): void {
    if (this.#text.startsWith('/**', from)) this.docs.push({ from, to })
    this.#blank(from, to)
  }

  #regularExpression(from: number): void {
    REGEXP.lastIndex = from
    const found = REGEXP.exec(this.#text)?.[0] ?? '/'
    if (found.length > 1) this.#blank(from + 1, from + found.lastIndexOf('/'))
    TOKEN.lastIndex = from + found.length
  }

  /** Blank a part of a template literal; whether an expression follows. */
  #templatePart(from: number): boolean {
    TEMPLATE_PART.lastIndex = from
    const part = TEMPLATE_PART.exec(this.#text)?.[0] ?? ''
    const opens = part.endsWith('${')
    TOKEN.lastIndex = from + part.length
    this.#blank(from, from + part.length - (opens ? 2 : Number(part.endsWith('`'))))
    return opens
  }

  #blank(from: number, to: number): void {
    this.#parts.push(this.#text.slice(this.#done, from), this.#text.slice(from, to).replace(/[^\n]/g, ' '))
    this.#done = to
  }
}

/** Whether a string literal ends in its line. */
const isClosed = (token: string): boolean => token.length > 1 && token.at(-1) === token[0]
