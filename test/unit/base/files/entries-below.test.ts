import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { entriesBelow } from '../../../../core/base/files/entries-below.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-entries-')
})
afterEach(() => removeFolder(folder))

test('entriesBelow lists the content of a folder before the folder, and follows no link', async () => {
  await mkdir(join(folder, 'a', 'deep'), { recursive: true })
  await writeFile(join(folder, 'a', 'deep', 'file'), '')
  await symlink('.', join(folder, 'a', 'deep', 'circle'))
  await symlink('/etc', join(folder, 'etc'))
  const paths = entriesBelow(folder).map(({ parentPath, name }) =>
    join(parentPath, name).slice(folder.length),
  )
  expect(paths.toSorted()).toEqual(['/a', '/a/deep', '/a/deep/circle', '/a/deep/file', '/etc'])
  expect(paths.filter((path) => path.startsWith('/a')).slice(-2)).toEqual(['/a/deep', '/a'])
})
