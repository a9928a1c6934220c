/** The site that `npm run docs:site` writes. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { writeProjectSite } from '../../site/project-site.ts'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-site-')
  await writeProjectSite(folder, ['executors'])
})
afterAll(() => removeFolder(folder))

const anchors = new Map<string, Set<string>>()
function anchorsOf(file: string): Set<string> {
  const found =
    anchors.get(file) ??
    new Set([...readFileSync(file, 'utf8').matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!))
  anchors.set(file, found)
  return found
}

test('the site has pages of docs and of extensions, whose links lead to pages and headings of it', () => {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.html'),
  )
  expect(pages).toEqual(expect.arrayContaining(['docs/cookbook.html', 'executors/splay.html']))
  const broken = pages.flatMap((page) => {
    const links = [...readFileSync(join(folder, page), 'utf8').matchAll(/ (?:href|src)="([^"]*)"/g)]
    return links
      .map(([, target]) => target!)
      .filter((target) => !/^(https?|mailto):/.test(target))
      .filter((target) => {
        const [path = '', anchor] = target.split('#')
        const file = path === '' ? join(folder, page) : join(folder, dirname(page), path)
        return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).has(decodeURIComponent(anchor)))
      })
      .map((target) => `${page}: ${target}`)
  })
  expect(broken).toEqual([])
})
