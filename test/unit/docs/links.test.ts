import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folders = ['.', 'docs', 'core', 'modules', 'runners', 'returners', 'plugins', 'test']
const pages = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
)

/** Return a page without its code, in which brackets are no links. */
function proseOf(page: string): string {
  return readFileSync(join(root, page), 'utf8')
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ''))
}

/** Return the anchors that GitHub and npm make of the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const headings = [...proseOf(page).matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => heading as string)
  const slugs = headings.map((heading) =>
    heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
  return new Set(slugs)
}

interface Link {
  readonly page: string
  readonly path: string
  readonly anchor: string | undefined
}

const links: Link[] = pages.flatMap((page) =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target as string)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#')
      return { page, path: path === '' ? page : join(dirname(page), path), anchor }
    }),
)

test('every link leads to an existing file, and to an existing heading of it', () => {
  const broken = links.filter(
    ({ path, anchor }) =>
      !existsSync(join(root, path)) || (anchor !== undefined && !anchorsOf(path).has(anchor)),
  )
  expect(broken).toEqual([])
})

test('the index of the documentation links every page', () => {
  const index = 'docs/README.md'
  const linked = new Set(links.filter(({ page }) => page === index).map(({ path }) => path))
  const missing = pages.filter((page) => relative('docs', dirname(page)) === '' && page !== index)
  expect(missing.filter((page) => !linked.has(page))).toEqual([])
})

test('pages of the package link only files of the package', () => {
  const outside = links.filter(
    ({ page, path }) => page.startsWith('docs/') && !/^(docs\/|README\.md$)/.test(path),
  )
  expect(outside).toEqual([])
})
