import { readFile } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'
import { replaceFile } from '#internal'

/** A section of a file of repositories: its options, and `comments` if there are any. */
export type Section = Record<string, unknown>
export interface RepoFile {
  /** The comments before the first section. */
  readonly header: string
  readonly sections: Record<string, Section>
}

/** Parse a file as Python's configparser does. With `strict`, a section or option that comes twice is an error. */
export async function readRepoFile(path: string, strict: boolean): Promise<RepoFile> {
  return parseRepoFile(await readFile(path, 'utf8'), path, strict)
}

export function parseRepoFile(text: string, path: string, strict: boolean): RepoFile {
  const parser = new Parser(path, strict)
  text.split(/\r?\n/).forEach((line, index) => {
    parser.read(line, index + 1)
  })
  return parser.result()
}

class Parser {
  readonly #sections: Record<string, Section> = {}
  readonly #seen = new Set<string>()
  readonly #path: string
  readonly #strict: boolean
  #header = ''
  #section: Section | undefined
  #option: string | undefined

  constructor(path: string, strict: boolean) {
    this.#path = path
    this.#strict = strict
  }

  read(line: string, number: number): void {
    const text = line.trim()
    const [, name] = /^\[([^\]]+)\]/.exec(line) ?? []
    if (/^[#;]/.test(text)) this.#comment(text)
    else if (name !== undefined) this.#open(name, number)
    else if (text !== '') this.#value(text, /^\s/.test(line), number)
  }

  result(): RepoFile {
    return { header: this.#header, sections: this.#sections }
  }

  #comment(text: string): void {
    if (!text.startsWith('#')) return
    if (!this.#section) this.#header += `${text}\n`
    else this.#section.comments = [...((this.#section.comments as string[]) ?? []), text.slice(1).trimStart()]
  }

  #open(name: string, number: number): void {
    if (this.#strict && Object.hasOwn(this.#sections, name))
      throw this.#error(number, `the section [${name}] comes twice`)
    this.#sections[name] ??= {}
    this.#section = this.#sections[name]
    this.#option = undefined
    this.#seen.clear()
  }

  #value(text: string, indented: boolean, number: number): void {
    if (!this.#section) throw this.#error(number, 'an option comes before the first [section]')
    const [, key, value = ''] = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(text) ?? []
    if (indented && this.#option !== undefined) this.#section[this.#option] += `\n${text}`
    else if (key !== undefined) this.#set(key.toLowerCase(), value, number)
    else throw this.#error(number, `'${text}' is no option of the form name=value`)
  }

  #set(key: string, value: string, number: number): void {
    if (this.#strict && this.#seen.has(key)) throw this.#error(number, `the option '${key}' comes twice`)
    this.#seen.add(key)
    this.#section![key] = value
    this.#option = key
  }

  #error(number: number, what: string): CommandExecutionError {
    return new CommandExecutionError(`${this.#path} cannot be read: line ${number}: ${what}`)
  }
}

/** Write a file of repositories anew, with its comments. */
export async function writeRepoFile(path: string, { header, sections }: RepoFile): Promise<void> {
  const texts = Object.entries(sections).map(([name, { comments = [], ...options }]) =>
    [
      `[${name}]\n`,
      ...Object.entries(options).map(([key, value]) => `${key}=${valueText(value)}\n`),
      ...[comments].flat().flatMap(commentLines),
      '\n',
    ].join(''),
  )
  await replaceFile(path, header + texts.join(''))
}

// What follows a line break belongs to the value only if it is indented.
function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  return [value].flat().join('\n').split(/\r?\n/).join('\n ')
}

const commentLines = (comment: unknown): string[] =>
  String(comment)
    .split(/\r?\n/)
    .map((line) => `# ${line.replace(/^#+/, '').trimStart()}\n`)
