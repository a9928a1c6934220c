import { chmod, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDirectory, makeFolders } from '../../../../core/base/files/directory.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let root: string
beforeEach(async () => {
  root = await temporaryFolder('salt-ts-directory-')
})
afterEach(() => removeFolder(root))

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

test('a new directory is for its owner only, and missing parents have the default mode', async () => {
  await makeDirectory(join(root, 'var', 'cache', 'master'))
  expect([
    await modeOf(join(root, 'var', 'cache')),
    await modeOf(join(root, 'var', 'cache', 'master')),
  ]).toEqual([0o755, 0o700])
})

test('an existing directory stays as it is', async () => {
  await chmod(root, 0o755)
  await makeDirectory(root)
  expect(await modeOf(root)).toBe(0o755)
})

test.each([0o757, 0o777])(
  'a directory that all users may write (%o) is refused, with the command that helps',
  async (mode) => {
    await chmod(root, mode)
    await expect(makeDirectory(root)).rejects.toThrow(`Run: chmod o-w ${root}`)
  },
)

test.each([0o775, 0o1777])(
  'a directory that a group may write, or that has the sticky bit (%o), is accepted',
  async (mode) => {
    await chmod(root, mode)
    await expect(makeDirectory(root)).resolves.toBeUndefined()
  },
)

test('a directory that cannot be made causes an error in a sentence', async () => {
  await writeFile(join(root, 'file'), '')
  const made = makeDirectory(join(root, 'file', 'cache'))
  await expect(made).rejects.toThrow(/cannot be made by user .* name another place/)
})

test('a file system that cannot make directories is an error, not an endless loop', async () => {
  expect(() => makeFolders('/proc/nope/x', 0o755)).toThrow("mkdir '/proc/nope'")
  await expect(makeDirectory('/proc/nope/x')).rejects.toThrow(
    'The directory /proc/nope/x cannot be made by user',
  )
})
