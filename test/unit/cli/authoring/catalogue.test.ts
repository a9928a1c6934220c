import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogueOf } from '../../../../core/cli/authoring/catalogue.ts'
import { openLoader } from '../../../../core/loader/index.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'

const modules = path.resolve(import.meta.dirname, '../../../../modules')

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-catalogue-')
})
afterAll(() => removeFolder(folder))

test('the catalogue of built-in functions is current; `npx vitest run` of this file with `-u` writes it anew', async () => {
  const { text, unread } = await catalogueOf(modules)
  expect(unread).toEqual([])
  await expect(text).toMatchFileSnapshot(path.join(modules, '_catalogue.ts'))
})

test('it has every function the loader offers', SLOW, async () => {
  const { names } = await catalogueOf(modules)
  const loader = openLoader('modules', {
    config: {},
    grains: { kernel: 'Linux' },
    log: quietLog,
  })
  expect(names).toEqual(expect.arrayContaining(await loader.view.functions()))
})

test('a folder of a user has other names, aliases and folders, but no JavaScript, tests or broken files', async () => {
  const put = (name: string, text: string) => writeFile(path.join(folder, name), text)
  await put('hello.ts', "export const greet = () => 'hi'\nconst d = () => 1\nexport { d as delete }\n")
  await put('hello.test.ts', 'export const no = () => 1\n')
  await put('_helper.ts', 'export const no = () => 1\n')
  await put('plain.js', 'export const no = () => 1\n')
  await put('linux_pkg.mts', "export const virtualName = 'pkg'\nexport const install = () => 1\n")
  await put('star.ts', "export * from './_star.ts'\n")
  await put('_star.ts', 'export const twinkle = () => 1\n')
  await put('broken.ts', "export * from './_missing.ts'\n")
  const { text, names, unread } = await catalogueOf(folder)
  expect(names).toEqual(['hello.delete', 'hello.greet', 'pkg.install', 'star.twinkle'])
  expect(text).toContain(`'pkg.install': typeof import('./linux_pkg.mjs')['install']`)
  expect(unread).toEqual([expect.stringContaining('broken.ts')])
})

test('names of files stay text, whatever characters they contain', async () => {
  const inner = await temporaryFolder('salt-ts-catalogue-')
  for (const name of ["a'b", 'c\nd', 'e"\\f'])
    await writeFile(path.join(inner, `${name}.ts`), 'export const go = () => 1\n')
  const { text } = await catalogueOf(inner)
  await removeFolder(inner)
  expect(text).toContain(`    'a\\'b.go': typeof import('./a\\'b.js')['go']\n`)
  expect(text).toContain(`    'c\\nd.go': typeof import('./c\\nd.js')['go']\n`)
  expect(text).toContain(`    'e"\\\\f.go': typeof import('./e"\\\\f.js')['go']\n`)
})
