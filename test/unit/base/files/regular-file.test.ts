import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { irregularityOf, readRegularFile } from '../../../../core/base/files/regular-file.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let path: string
let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-regular-')
  path = join(folder, 'file')
})
afterEach(() => removeFolder(folder))

test('a regular file, a link to one, a device and nothing are regular', async () => {
  await writeFile(path, 'text')
  await symlink(path, join(folder, 'link'))
  expect([path, join(folder, 'link'), '/dev/null', join(folder, 'none')].map(irregularityOf)).toEqual(
    Array(4).fill(undefined),
  )
  expect(await readRegularFile(join(folder, 'link'))).toBe('text')
  expect(await readRegularFile(join(folder, 'none'))).toBeUndefined()
})

test('a pipe is refused without waiting for its other end', async () => {
  execFileSync('mkfifo', [path])
  await expect(readRegularFile(path)).rejects.toThrow(`${path} is a pipe, not a regular file`)
})

test('a folder, and a link to a file that does not exist, are refused', async () => {
  await mkdir(path)
  await expect(readRegularFile(path)).rejects.toThrow(`${path} is a folder, not a regular file`)
  await symlink('/nowhere/file', join(folder, 'link'))
  expect(irregularityOf(join(folder, 'link'))).toBe(
    'is a symbolic link to /nowhere/file, which does not exist',
  )
})
