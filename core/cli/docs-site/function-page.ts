/** Pages of modules, runners and other extensions: their functions with parameters, examples and results. */
import { createHash } from 'node:crypto'
import type { Params } from '../../author/params.ts'
import {
  functionHelp,
  type InWords,
  paramInWords,
  resultInWords,
  type Signature,
} from '../../loader/describe/function-help.ts'
import { type Html, html, visible } from './html.ts'
import { markdownToHtml } from './markdown.ts'
import { groupsOf, type Page, type SearchEntry } from './page.ts'

export interface DocumentedFunction {
  /** The name users call: `pkg.install`. */
  readonly name: string
  readonly doc?: string | undefined
  /** Whether `doc` is shown as it is, not as Markdown. */
  readonly isPlain?: boolean
  readonly signature: Signature
  /** Which minions offer it, as sentences. */
  readonly offer?: readonly string[]
}

/** A module, or another file of functions or of a plugin. */
export interface DocumentedFile {
  /** The kind, as in `modules`. */
  readonly kind: string
  /** The name of the file. */
  readonly file: string
  /** The names that users have for it. */
  readonly names: readonly string[]
  readonly doc?: string | undefined
  readonly functions: readonly DocumentedFunction[]
  /** The options that a plugin declares. */
  readonly options?: Params
}

export function pageOf(documented: DocumentedFile): Page {
  const { kind, file, names, doc, functions, options } = documented
  const [name = file] = names
  const path = `${fileName(kind)}/${fileName(file)}.html`
  const title = name === file ? name : `${name} (${file})`
  const aliases = names.slice(1)
  const body = html`<h1>${title}</h1>
${doc === undefined ? undefined : markdownToHtml(doc)}
${aliases.length > 0 ? html`<p class="muted">Also called ${aliases.join(', ')}.</p>` : undefined}
${options && optionsTable(options)}
${functions.map(section)}`
  const own: SearchEntry = { id: path, title: name, text: doc ?? '' }
  return { path, title, group: groupTitle(kind), body, entries: [own, ...functions.map(entryIn(path))] }
}

/** Return the content of the first page: all pages by group, with the first sentence of each. */
export function overview(pages: readonly Page[]): Html {
  const groups = [...groupsOf(pages)].map(([group, members]) => {
    const rows = members.map(({ path, title, entries }) => [
      html`<a href="${path}">${title}</a>`,
      html`${firstSentence(entries[0]?.text ?? '')}`,
    ])
    return html`<h2>${group}</h2>\n${table(['name', 'what it is for'], rows)}`
  })
  return html`${groups}`
}

/** Return a link to a function. A name may have halves of characters, which no link has. */
const anchorOf = (name: string): string => `#${encodeURIComponent(visible(name))}`

/** The most characters about a function that are searched. */
const MAX_SEARCHED = 4000

const groupTitle = (kind: string): string => kind.charAt(0).toUpperCase() + kind.slice(1)

const entryIn =
  (path: string) =>
  ({ name, doc, signature }: DocumentedFunction): SearchEntry => ({
    id: path + anchorOf(name),
    title: visible(name),
    text: visible(functionHelp(doc, signature) ?? '').slice(0, MAX_SEARCHED),
  })

function section({ name, doc, isPlain, signature, offer = [] }: DocumentedFunction): Html {
  const { params, returns } = signature
  const rows = Object.entries(params ?? {}).map(
    ([param, declared]) => [param, paramInWords(declared)] as const,
  )
  return html`<section>
<h2 id="${name}">${name} <a class="anchor" href="${anchorOf(name)}" aria-label="Link to ${name}">#</a></h2>
${doc === undefined ? undefined : isPlain ? html`<pre>${doc}</pre>` : markdownToHtml(doc)}
${rows.length > 0 ? inWordsTable('parameter', rows) : undefined}
${returns && result(resultInWords(returns))}
${offer.length > 0 ? html`<p class="muted">${offer.join(' ')}</p>` : undefined}
</section>
`
}

const result = ({ takes, description }: InWords): Html =>
  html`<p>Returns: ${takes}${description === undefined ? '' : ` – ${description}`}</p>`

function optionsTable(options: Params): Html | undefined {
  const rows = Object.entries(options).map(([name, option]) => [name, paramInWords(option)] as const)
  return rows.length === 0 ? undefined : html`<h2>Options</h2>\n${inWordsTable('option', rows)}`
}

function inWordsTable(what: string, rows: readonly (readonly [name: string, words: InWords])[]): Html {
  const described = rows.some(([, { description }]) => description !== undefined)
  return table(
    [what, 'value', ...(described ? ['what it is for'] : [])],
    rows.map(([name, { takes, description }]) => [
      html`<code>${name}</code>`,
      html`${takes}`,
      ...(described ? [html`${description}`] : []),
    ]),
  )
}

function table(head: readonly string[], rows: readonly (readonly Html[])[]): Html {
  const body = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)
  return html`<table>
<thead><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr></thead>
<tbody>${body}</tbody>
</table>`
}

/** Return a name as that of a file: other characters than letters, digits, `_` and `-` as `~` and their code. A long one ends in a hash. */
function fileName(name: string): string {
  const safe = name.replace(/[^\w-]/gu, (character) => `~${character.codePointAt(0)?.toString(16)}`)
  return safe.length <= MAX_FILE_NAME
    ? safe
    : `${safe.slice(0, MAX_FILE_NAME)}~${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
}

/** File systems allow 255 characters. */
const MAX_FILE_NAME = 200

/** Return the first sentence of a text, or its first line. */
const firstSentence = (text: string): string =>
  (/^[\s\S]*?[.:](?=\s|$)/.exec(text)?.[0] ?? text.split('\n')[0] ?? '').replaceAll('`', '')
