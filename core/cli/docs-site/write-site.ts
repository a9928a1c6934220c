import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { SaltError } from '../../base/errors.ts'
import { codeRoot } from '../../process/own-package.ts'
import { GENERATED_MARK, pageText, type Site } from './page.ts'
import { searchIndexScript } from './search-index.ts'

const assets = path.join(codeRoot, 'core/cli/docs-site/assets')

/**
 * Write a site to a folder, and remove pages that it does not have any more. Other files are left alone. Returns the path of
 * the first page.
 *
 * @throws SaltError INVOCATION if the first page of the folder was not written by this function
 */
export async function writeSite(folder: string, site: Site): Promise<string> {
  const index = path.join(folder, 'index.html')
  await refuseForeign(index)
  const pages = [{ path: 'index.html', title: site.title, body: site.home }, ...site.pages]
  await mkdir(path.join(folder, 'assets'), { recursive: true })
  for (const name of ['style.css', 'search.js'])
    await copyFile(path.join(assets, name), path.join(folder, 'assets', name))
  await copyFile(browserMiniSearch(), path.join(folder, 'assets/minisearch.js'))
  await writeFile(path.join(folder, 'assets/search-index.js'), searchIndexScript(site))
  for (const page of pages) {
    await mkdir(path.dirname(path.join(folder, page.path)), { recursive: true })
    await writeFile(path.join(folder, page.path), pageText(site, page))
  }
  await removeStale(folder, new Set(pages.map((page) => page.path)))
  return index
}

async function refuseForeign(index: string): Promise<void> {
  const old = await readFile(index, 'utf8').catch(() => undefined)
  if (old !== undefined && !old.includes(GENERATED_MARK))
    throw new SaltError(
      'INVOCATION',
      `${index} was not written by salt-ts docs; name another folder with --out.`,
      {
        file: index,
      },
    )
}

/** MiniSearch as a script that defines it for all others. */
const browserMiniSearch = (): string =>
  path.join(path.dirname(createRequire(import.meta.url).resolve('minisearch')), '../umd/index.js')

/** Remove pages of an earlier run. */
async function removeStale(folder: string, written: ReadonlySet<string>): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (!entry.isFile() || !entry.name.endsWith('.html') || written.has(path.relative(folder, file))) continue
    if ((await readFile(file, 'utf8')).includes(GENERATED_MARK)) await rm(file)
  }
}
