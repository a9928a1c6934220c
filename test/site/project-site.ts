/** The pages of docs, and all built-in extensions, as web pages. */
import { copyFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documentedFolders } from '../../core/cli/docs-site/documented-folder.ts'
import { overview, pageOf } from '../../core/cli/docs-site/function-page.ts'
import { html } from '../../core/cli/docs-site/html.ts'
import { markdownToHtml, sectionsOf } from '../../core/cli/docs-site/markdown.ts'
import type { Page } from '../../core/cli/docs-site/page.ts'
import { writeSite } from '../../core/cli/docs-site/write-site.ts'
import { kinds } from '../../core/loader/kinds.ts'

const root = join(import.meta.dirname, '../..')
const docs = join(root, 'docs')
/** The kinds whose names users type. */
const KINDS = ['modules', 'runners', 'wheel', 'returners', 'executors', 'outputters', 'auth', 'engines']

/** Write the site to a folder, with extensions of these kinds. Returns the path of its first page. */
export async function writeProjectSite(out: string, names = KINDS): Promise<string> {
  const index = await readFile(join(docs, 'README.md'), 'utf8')
  const folders = names
    .flatMap((name) => kinds.get(name) ?? [])
    .map((kind) => [kind, join(root, kind.builtIn)] as const)
  const { files, unread } = await documentedFolders(folders, { builtIn: true })
  if (unread.length > 0) throw new Error(unread.join('\n'))
  const extensions = files.map(pageOf)
  const pages = [...(await Promise.all(listedPages(index).map(docPage))), ...extensions]
  const link = (target: string) => pageAddress(target, '')
  const home = html`${markdownToHtml(index, { link })}\n${overview(extensions)}`
  const first = await writeSite(out, { title: 'salt-ts', home, pages })
  for (const name of await readdir(docs))
    if (name.endsWith('.svg')) await copyFile(join(docs, name), join(out, 'docs', name))
  return first
}

/** List the pages that the index links, by its headings. */
function listedPages(text: string): { name: string; group: string }[] {
  return text.split(/^## /m).flatMap((part) => {
    const group = part.slice(0, part.indexOf('\n'))
    return [...new Set([...part.matchAll(/\]\(([\w-]+)\.md/g)].map(([, name = '']) => name))].map((name) => ({
      name,
      group,
    }))
  })
}

async function docPage({ name, group }: { name: string; group: string }): Promise<Page> {
  const text = await readFile(join(docs, `${name}.md`), 'utf8')
  const path = `docs/${name}.html`
  const sections = sectionsOf(text)
  return {
    path,
    group,
    title: sections[0]?.title ?? name,
    body: markdownToHtml(text, { link: (target) => pageAddress(target, '../'), images: true }),
    entries: sections.map(({ id, title, text: below }) => ({ id: `${path}#${id}`, title, text: below })),
  }
}

/** Return the address of a page of the site for a link between pages of docs. */
function pageAddress(target: string, toRoot: string): string {
  const [, name, anchor = ''] = /^(?:\.\.\/)?([\w-]+)\.md(#.*)?$/.exec(target) ?? []
  if (name === undefined) return target
  return name === 'README' ? `${toRoot}index.html` : `${toRoot}docs/${name}.html${anchor}`
}
