import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import MiniSearch from 'minisearch'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { p } from '../../../../core/author/index.ts'
import type { FleetFunction } from '../../../../core/cli/authoring/fleet-functions.ts'
import { filesOf } from '../../../../core/cli/docs-site/documented-fleet.ts'
import { overview, pageOf } from '../../../../core/cli/docs-site/function-page.ts'
import { html } from '../../../../core/cli/docs-site/html.ts'
import { pageText } from '../../../../core/cli/docs-site/page.ts'
import { writeFolderDocs } from '../../../../core/cli/docs-site/write-docs.ts'
import { writeSite } from '../../../../core/cli/docs-site/write-site.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
let out: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-docs-')
  out = path.join(folder, 'site')
})
afterEach(() => removeFolder(folder))

async function put(name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
  await writeFile(path.join(folder, name), text)
}
const written = (name: string) => readFile(path.join(out, name), 'utf8')

const SHOP = `/** The shop on this host. */
import { fn, p } from 'salt-ts'

export const virtualName = 'store'

/**
 * Install a version.
 *
 * @example salt '*' store.install 1.11
 */
export const install = fn(
  { version: p.described(p.string({ minLength: 1 }), 'Such as 1.11.'), keep: p.default(p.integer(), 3) },
  ({ version }) => version,
  { returns: p.string() },
)
`

/** Search as a page does. */
async function search(words: string): Promise<{ id: string; title: string }[]> {
  const lines = (await written('assets/search-index.js')).trimEnd().split('\n')
  const [index, options] = lines.map((line) => JSON.parse(line.slice(line.indexOf('=') + 1)))
  return MiniSearch.loadJSON(index, options).search(words) as never
}

test('a folder of extensions gets a page for each file, and a search', async () => {
  await put('modules/shop.ts', SHOP)
  await put('modules/broken.ts', 'nonsense(')
  await put(
    'runners/fleet.ts',
    "import { fn } from 'salt-ts'\n/** Count minions. */\nexport const count = fn(() => 1)\n",
  )
  await put(
    'returners/journal.ts',
    "import { p, returner } from 'salt-ts'\nexport default returner({ options: { path: p.default(p.string(), 'journal') }, create: () => ({ save: async () => {} }) })\n",
  )
  const said = await writeFolderDocs(folder, out)
  expect(said).toMatch(
    /site\/index\.html written: 2 functions on 3 pages\nNote: left out, since it cannot be imported: .*broken\.ts/,
  )
  const page = await written('modules/shop.html')
  expect(page).toContain('<h1>store (shop)</h1>')
  expect(page).toContain('<h2 id="store.install">')
  expect(page).toContain('<td><code>keep</code></td><td>integer, default 3</td><td></td>')
  expect(page).toContain('<td>string, at least 1 character</td><td>Such as 1.11.</td>')
  expect(page).toContain('<p>Returns: string</p>')
  expect(page).toContain('salt &#39;*&#39; store.install 1.11')
  expect(page).toContain('<a href="../runners/fleet.html">fleet</a>')
  expect(await written('returners/journal.html')).toContain('<td>string, default &quot;journal&quot;</td>')
  expect(await written('index.html')).toContain('<td>The shop on this host.</td>')
  expect((await search('store.install'))[0]).toMatchObject({ id: 'modules/shop.html#store.install' })
  expect((await search('minins'))[0]).toMatchObject({ title: 'fleet.count' })
  for (const name of ['style.css', 'search.js', 'minisearch.js'])
    expect(existsSync(path.join(out, 'assets', name))).toBe(true)
})

test('the page of a removed file is removed, and no other file is', async () => {
  await put('modules/shop.ts', SHOP)
  await put('site/modules/old.html', '<!-- Written by salt-ts docs. Changes are lost. -->')
  await put('site/mine.html', 'mine')
  await writeFolderDocs(folder, out)
  expect((await readdir(path.join(out, 'modules'))).sort()).toEqual(['shop.html'])
  expect(await written('mine.html')).toBe('mine')
})

test('a folder whose index.html salt-ts did not write is left unchanged', async () => {
  await put('modules/shop.ts', SHOP)
  await put('site/index.html', 'mine')
  await expect(writeFolderDocs(folder, out)).rejects.toThrow(
    'was not written by salt-ts docs; name another folder with --out.',
  )
  expect(await readdir(out)).toEqual(['index.html'])
})

test('a file that does not finish loading is left out, and named', async () => {
  await put('modules/shop.ts', SHOP)
  await put('modules/waiting.ts', 'await new Promise(() => {})')
  expect(await writeFolderDocs(folder, out, { loadMs: 2000 })).toMatch(
    /Note: left out, since it cannot be imported: .*waiting\.ts: did not finish loading within 2 s;/,
  )
})

test('a folder without functions is an error', async () => {
  await expect(writeFolderDocs(folder, out)).rejects.toThrow(/^No file in .* exports a function\.$/)
})

const reported = (given: Partial<FleetFunction>): FleetFunction => ({
  name: 'shop.install',
  params: {},
  python: false,
  minions: ['web1'],
  others: [],
  ...given,
})

test('functions of a fleet list the minions that have them', () => {
  const functions = [
    reported({
      minions: ['web1', 'web2'],
      others: ['web3'],
      doc: 'Install *it*.',
      returns: p.integer().schema,
    }),
    reported({
      name: 'shop.list',
      python: true,
      doc: '*args* <b>',
      params: null,
      minions: ['web1', 'web2', 'web3'],
    }),
  ]
  const [file] = filesOf({ functions, minions: 3 })
  const { text } = pageOf(file!).body
  expect(text).toContain('<p>Install <em>it</em>.</p>')
  expect(text).toContain('Offered by web1, web2. With other parameters: web3.')
  expect(text).toContain('<pre>*args* &lt;b&gt;</pre>')
  expect(text).toContain('All minions offer it.')
})

test('for all function names of minions pages stay in the folder and names stay text', async () => {
  const names = [
    '../../evil.run',
    '/etc/evil.run',
    '<script>alert(1)</script>.run',
    `${'x'.repeat(250)}.run`,
    `${'x'.repeat(251)}.run`,
    '__proto__.run',
    '\ud800.\udfff',
  ]
  const functions = names.map((name) => reported({ name, params: { '"><script>': p.string() } }))
  const pages = filesOf({ functions, minions: 1 }).map(pageOf)
  await writeSite(out, { title: 'Fleet', home: html``, pages })
  expect((await readdir(path.join(out, 'modules'))).length).toBe(names.length)
  expect((await readdir(folder)).sort()).toEqual(['site'])
  for (const { path: name } of pages) expect(await written(name)).not.toContain('<script>')
  expect(await search('evil')).not.toEqual([])
})

test('documentation for which Markdown is lossy or slow is shown as plain text', () => {
  const docs = ['*short*', '>'.repeat(1900), '*a_'.repeat(1000)]
  const functions = docs.map((doc, index) => reported({ name: `shop.f${index}`, doc }))
  const { text } = pageOf(filesOf({ functions, minions: 1 })[0]!).body
  expect(text).toContain('<em>short</em>')
  expect(text).toContain(`<pre>${'&gt;'.repeat(1900)}</pre>`)
  expect(text).toContain(`<pre>${'*a_'.repeat(1000)}</pre>`)
})

test('if the documentation of a fleet is very long, only a part is read as Markdown', () => {
  const functions = Array.from({ length: 1000 }, (_, index) =>
    reported({ name: `shop.f${index}`, doc: `*${'a'.repeat(1900)}*` }),
  )
  const [file] = filesOf({ functions, minions: 1 })
  expect(file!.functions.filter(({ isPlain }) => !isPlain).length).toBe(262)
})

test('a page of a very large site links the first page instead of all others', () => {
  const functions = Array.from({ length: 3000 }, (_, index) => reported({ name: `m${index}.run` }))
  const pages = filesOf({ functions, minions: 1 }).map(pageOf)
  const text = pageText({ title: 'Fleet', home: overview(pages), pages }, pages[0]!)
  expect(text).toContain('<a href="../index.html">all 3000</a>')
  expect(text.length).toBeLessThan(5000)
})

test('thousands of functions of one module get one page', () => {
  const functions = Array.from({ length: 40_000 }, (_, index) => reported({ name: `shop.f${index}` }))
  expect(filesOf({ functions, minions: 1 })[0]!.functions.length).toBe(40_000)
})
