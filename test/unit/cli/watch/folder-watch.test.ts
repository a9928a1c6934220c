import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FolderWatch } from '../../../../core/cli/watch/folder-watch.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'

let folder: string
let watched: FolderWatch
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-watch-')
  await mkdir(path.join(folder, 'lib'))
  await mkdir(path.join(folder, 'node_modules'))
  watched = await FolderWatch.open([folder])
})
afterEach(async () => {
  watched.close()
  await removeFolder(folder)
})

const at = (...names: string[]) => path.join(folder, ...names)

test('a watch reports a changed file, and one in a subfolder', SLOW, async () => {
  await writeFile(at('a.ts'), '1')
  expect(await watched.next()).toContain(at('a.ts'))
  await writeFile(at('lib', 'b.ts'), '1')
  expect(await watched.next()).toContain(at('lib', 'b.ts'))
})

test('a watch reports several steps of one save as one change', SLOW, async () => {
  await writeFile(at('a.ts.tmp'), '1')
  await rename(at('a.ts.tmp'), at('a.ts'))
  await writeFile(at('a.ts'), '2')
  await watched.next()
  const next = watched.next()
  await writeFile(at('end.ts'), '')
  expect(await next).toContain(at('end.ts'))
})

test('a watch includes a folder that is new, or replaces another one', SLOW, async () => {
  await mkdir(at('new'))
  expect(await watched.next()).toContain(at('new'))
  await writeFile(at('new', 'c.ts'), '1')
  expect(await watched.next()).toContain(at('new', 'c.ts'))
  await rm(at('new'), { recursive: true })
  await mkdir(at('new'))
  await watched.next()
  await writeFile(at('new', 'd.ts'), '1')
  expect(await watched.next()).toContain(at('new', 'd.ts'))
})

test('a watch reports files that were in a new folder before it was watched', async () => {
  await mkdir(at('new', 'inner'), { recursive: true })
  await writeFile(at('new', 'inner', 'c.ts'), '1')
  expect(await watched.next()).toContain(at('new', 'inner', 'c.ts'))
})

test('a watch ignores files of npm, version control and editors', async () => {
  await writeFile(at('node_modules', 'x.js'), '1')
  await writeFile(at('.a.ts.swp'), '1')
  await writeFile(at('a.ts~'), '1')
  await writeFile(at('b.ts'), '1')
  expect(await watched.next()).toEqual([at('b.ts')])
})
