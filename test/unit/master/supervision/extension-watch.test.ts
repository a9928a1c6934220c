import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ExtensionWatch } from '../../../../core/master/supervision/extension-watch.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { until } from '../../../harness/until.ts'

let root: string
let watch: ExtensionWatch
let changes: number
beforeEach(async () => {
  root = await temporaryFolder('salt-ts-watch-')
  await mkdir(join(root, 'matchers'))
  await mkdir(join(root, 'output'))
  changes = 0
  watch = await ExtensionWatch.open({
    kinds: ['matchers', 'auth'],
    config: () => ({ extension_modules: root }),
    onChange: async () => void changes++,
    checkMs: 5,
    onError: (error) => {
      throw error
    },
  })
})
afterEach(async () => {
  watch.close()
  await removeFolder(root)
})

const write = (file: string, text: string) => writeFile(join(root, file), text)

test('a file of a watched kind that comes, changes or goes is reported once', async () => {
  await write('matchers/mine.js', 'one')
  await until('the new file', () => changes === 1)
  await write('matchers/mine.js', 'another')
  await until('the change', () => changes === 2)
  await rm(join(root, 'matchers', 'mine.js'))
  await until('the removal', () => changes === 3)
  await mkdir(join(root, 'auth'))
  await write('auth/mine.js', 'one')
  await until('the other kind', () => changes === 4)
})

test('files of other kinds are not reported', async () => {
  await write('output/mine.js', 'one')
  await write('matchers/mine.js', 'one')
  await until('the matcher', () => changes > 0)
  expect(changes).toBe(1)
})
