/**
 * Markdown → HTML, by marked (0.6 MB, no dependencies). Generators of whole sites such as VitePress, Docusaurus and TypeDoc come
 * with hundreds of packages, and their pages or their search need a server; what they would add is `page.ts` and `assets`.
 *
 * Documentation of minions is text of strangers. Tags in it are shown as text, since marked is told not to know any; links lead to
 * web pages or within the site; images are shown as links, since they would be loaded from elsewhere.
 */
import { Marked, type Renderer, type Token, type Tokens } from 'marked'
import { escapeHtml, Html, html, visible } from './html.ts'

interface MarkdownOptions {
  /** Return the address that a link leads to. */
  readonly link?: (target: string) => string
  /** Whether images are shown; only for texts that are trusted. */
  readonly images?: boolean
}

/** A heading with the text below it, up to the next heading. */
export interface Section {
  readonly id: string
  readonly title: string
  readonly text: string
}

export function markdownToHtml(text: string, options: MarkdownOptions = {}): Html {
  try {
    return new Html(withoutTags({ renderer: rendererOf(options) }).parse(visible(text)) as string)
  } catch (error) {
    if (error instanceof RangeError) return html`<pre>${text}</pre>` // too deep for marked, as thousands of > are
    throw error
  }
}

/** Split a text at its headings, whose ids are those of {@link markdownToHtml}. */
export function sectionsOf(text: string): Section[] {
  const newId = idMaker()
  const sections: { id: string; title: string; text: string }[] = []
  for (const token of withoutTags({}).lexer(visible(text)) as Token[])
    if (token.type === 'heading') sections.push({ id: newId(token.text), title: plain(token.text), text: '' })
    else if (sections.length > 0) sections[sections.length - 1]!.text += token.raw
  return sections
}

/** Return text without the marks of code and links. */
const plain = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')

const withoutTags = (options: { readonly renderer?: Partial<Renderer<string, string>> }) =>
  new Marked({ async: false, tokenizer: { html: () => undefined, tag: () => undefined } }, options as object)

function rendererOf({ link = (target) => target, images = false }: MarkdownOptions) {
  const newId = idMaker()
  return {
    heading(this: Renderer<string, string>, { tokens, depth, text }: Tokens.Heading) {
      const id = escapeHtml(newId(text))
      const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>`
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} ${anchor}</h${depth}>\n`
    },
    link(this: Renderer<string, string>, { href, tokens }: Tokens.Link) {
      const inner = this.parser.parseInline(tokens)
      return isHarmless(href) ? `<a href="${escapeHtml(link(href))}">${inner}</a>` : inner
    },
    image({ href, text }: Tokens.Image) {
      if (images) return `<img src="${escapeHtml(href)}" alt="${escapeHtml(text)}">`
      const inner = escapeHtml(text || href)
      return isHarmless(href) ? `<a href="${escapeHtml(href)}">${inner}</a>` : inner
    },
    /** A path after the language is the file in which the code is. */
    code({ text, lang = '' }: Tokens.Code) {
      const [, file = ''] = /^\S+ +(\S*[./]\S*)$/.exec(lang) ?? []
      const name = file === '' ? '' : `<p class="file">${escapeHtml(file)}</p>\n`
      return `${name}<pre><code>${escapeHtml(text)}</code></pre>\n`
    },
  }
}

/** Whether a link leads to a web page, or has no scheme. */
const isHarmless = (href: string): boolean => /^(https?:|mailto:)/i.test(href) || !/^[^/?#]*:/.test(href)

/** Make ids of headings, which are those of GitHub and npm. */
function idMaker(): (heading: string) => string {
  const used = new Map<string, number>()
  return (heading) => {
    const slug = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = used.get(slug) ?? 0
    used.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}
