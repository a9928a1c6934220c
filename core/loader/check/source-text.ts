import { readFile } from 'node:fs/promises'
import { declarationOf } from '../describe/docs.ts'
import { listExports } from '../describe/read-source.ts'
import { Blanked, type Span } from './blanked.ts'
import type { Place, RuleId } from './rules.ts'

const IGNORED = /\/[/*] salt-ts-ignore ([a-z-]+)/

/** By how much a brace changes the depth of the code after it. */
const DEPTH_BY_BRACE: Readonly<Record<string, number>> = { '{': 1, '}': -1 }

/** A doc comment, and where its text begins. */
export interface DocComment {
  readonly at: number
  readonly text: string
}

/** The text of a file, with the places of what is in it. */
export class SourceText {
  readonly path: string
  readonly text: string
  /** The text with blanks in place of comments and of the content of strings. */
  readonly code: string
  readonly #docs: readonly Span[]
  #lines: readonly string[] | undefined

  constructor(path: string, text: string) {
    this.path = path
    this.text = text
    const { code, docs } = new Blanked(text)
    this.code = code
    this.#docs = docs
  }

  /** Read a file; one that cannot be read is empty. */
  static async read(path: string): Promise<SourceText> {
    return new SourceText(path, await readFile(path, 'utf8').catch(() => ''))
  }

  /** Return the place of a position; the beginning of the file for -1. */
  place(at: number): Place {
    const before = this.text.slice(0, Math.max(at, 0)).split('\n')
    return { file: this.path, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
  }

  /** Return the content of the string literal that begins at a position; undefined for one with expressions. */
  stringAt(at: number): string | undefined {
    const quote = this.code[at] ?? ''
    const end = /['"`]/.test(quote) ? this.code.indexOf(quote, at + 1) : -1
    return end < 0 || this.code.slice(at, end).includes('${') ? undefined : this.text.slice(at + 1, end)
  }

  /** Return the position of a string literal with this content; -1 if there is none. */
  literalAt(content: string): number {
    return this.matches(/['"`]/g).find(({ index }) => this.stringAt(index) === content)?.index ?? -1
  }

  /** List the places where a pattern matches code. */
  matches(pattern: RegExp): RegExpExecArray[] {
    return [...this.code.matchAll(pattern)]
  }

  /** Return the first position of a pattern in code outside of braces; -1 if there is none. */
  topLevel(pattern: RegExp): number {
    let depth = 0
    let done = 0
    for (const { index } of this.matches(pattern)) {
      for (; done < index; done++) depth += DEPTH_BY_BRACE[this.code[done] as string] ?? 0
      if (depth === 0) return index
    }
    return -1
  }

  /** Whether a comment in the line, or in the one before it, says that a rule is to be ignored there. */
  ignores(rule: RuleId, line: number): boolean {
    this.#lines ??= this.text.split('\n')
    return this.#lines.slice(Math.max(line - 2, 0), line).some((text) => IGNORED.exec(text)?.[1] === rule)
  }

  docComments(): DocComment[] {
    return this.#docs.map(({ from, to }) => ({ at: from, text: this.text.slice(from, to) }))
  }

  /** Return the position where a name is exported or, if only a list exports it, declared; -1 if that is not found. */
  exportAt(name: string): number {
    if (name === 'default') return this.code.search(/^export\s+default\b|\bas\s+default\b/m)
    const found = listExports(this.code)?.find((one) => one.name === name)
    return found === undefined || found.at >= 0 ? (found?.at ?? -1) : declarationOf(this.code, found.local)
  }

  /** Return the position where a function declares a parameter, or else where the function is exported. */
  parameterAt(fun: string, parameter: string): number {
    const from = this.exportAt(fun)
    const after = this.code.slice(Math.max(from, 0) + 1)
    const next = after.search(/^export\b/m)
    const escaped = parameter.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const own = (next < 0 ? after : after.slice(0, next)).search(
      new RegExp(`(?<![\\w$.])${escaped}\\s*[:,}]`),
    )
    if (own >= 0) return Math.max(from, 0) + 1 + own
    const shared = this.code.search(new RegExp(`(?<![\\w$.])${escaped}\\s*:`))
    return shared >= 0 ? shared : from
  }
}
