/** The shell of a page: navigation and search around its content. */
import { grouped } from './grouped.ts'
import { type Html, html } from './html.ts'

/** What search finds: a page, or a part of one. */
export interface SearchEntry {
  /** Path below the site, with an anchor: `modules/pkg.html#pkg.install`. */
  readonly id: string
  readonly title: string
  readonly text: string
}

export interface Page {
  /** Path below the site: `modules/pkg.html`. */
  readonly path: string
  readonly title: string
  /** The heading of the navigation under which it is listed. */
  readonly group: string
  readonly body: Html
  readonly entries: readonly SearchEntry[]
}

export interface Site {
  readonly title: string
  /** The content of the first page. */
  readonly home: Html
  readonly pages: readonly Page[]
}

/** First line of a page after its doctype: a folder whose index has it may be written again. */
export const GENERATED_MARK = '<!-- Written by salt-ts docs. Changes are lost. -->'

/** Nothing is loaded but files of the site, and no script runs that is written into a page. */
const POLICY =
  "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; base-uri 'none'; form-action 'none'"

/** Return a page. Links are relative, so that it can be opened from a disk. */
export function pageText(site: Site, { path, title, body }: Pick<Page, 'path' | 'title' | 'body'>): string {
  const root = '../'.repeat(path.split('/').length - 1)
  const full = title === site.title ? title : `${title} – ${site.title}`
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${full}</title>
<link rel="stylesheet" href="${root}assets/style.css">
</head>
<body data-root="${root}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${root}index.html">${site.title}</a>
<search>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search" aria-controls="found" autocomplete="off">
<ol id="found" aria-live="polite" hidden></ol>
</search>
</header>
<div class="columns">
<nav aria-label="Pages">${navigation(site, root, path)}</nav>
<main id="content">
${body}
</main>
</div>
<script src="${root}assets/search.js"></script>
</body>
</html>
`
  return `<!doctype html>\n${GENERATED_MARK}\n${page.text}`
}

/** The most pages of a group that each page lists: with more, the lists would be larger than all that is in the pages. */
const MAX_LISTED = 1000

/** List the pages by group. The group of the present page is open. */
function navigation({ pages }: Site, root: string, here: string): Html[] {
  return [...groupsOf(pages)].map(([group, members]) => {
    if (members.length > MAX_LISTED)
      return html`<p>${group}: <a href="${root}index.html">all ${members.length}</a></p>\n`
    const isHere = members.some(({ path }) => path === here)
    const links = members.map(({ path, title }) =>
      path === here
        ? html`<li><a href="${root}${path}" aria-current="page">${title}</a></li>\n`
        : html`<li><a href="${root}${path}">${title}</a></li>\n`,
    )
    const list = html`<summary>${group}</summary>\n<ul>\n${links}</ul>`
    return isHere ? html`<details open>${list}</details>\n` : html`<details>${list}</details>\n`
  })
}

export const groupsOf = (pages: readonly Page[]): Map<string, Page[]> => grouped(pages, ({ group }) => group)
