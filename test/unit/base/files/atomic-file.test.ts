import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFileExclusive, replaceFile, writeFileAtomic } from '../../../../core/base/files/atomic-file.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { MOUNTS, needs } from '../../../harness/needs.ts'
import { mountSmallDisk } from '../../../harness/small-disk.ts'

let directory: string
beforeEach(async () => {
  directory = await temporaryFolder('salt-ts-atomic-')
})
afterEach(() => removeFolder(directory))

describe('writeFileAtomic', () => {
  test('creates a file with the content and exactly the mode asked for', async () => {
    await writeFileAtomic(join(directory, 'key'), 'text', { mode: 0o440 })
    expect(await readFile(join(directory, 'key'), 'utf8')).toBe('text')
    expect((await stat(join(directory, 'key'))).mode & 0o777).toBe(0o440)
  })

  test('has mode 0600 by default', async () => {
    await writeFileAtomic(join(directory, 'key'), Buffer.from([1, 2]))
    expect((await stat(join(directory, 'key'))).mode & 0o777).toBe(0o600)
  })

  test('replaces a file, even a read-only one, and leaves no temporary file', async () => {
    const path = join(directory, 'key')
    await writeFileAtomic(path, 'old', { mode: 0o400 })
    await writeFileAtomic(path, 'new', { mode: 0o400 })
    expect(await readFile(path, 'utf8')).toBe('new')
    expect(await readdir(directory)).toEqual(['key'])
  })

  test('replaces a symbolic link instead of writing where it points', async () => {
    await writeFile(join(directory, 'victim'), 'untouched')
    await symlink(join(directory, 'victim'), join(directory, 'key'))
    await writeFileAtomic(join(directory, 'key'), 'new')
    expect(await readFile(join(directory, 'victim'), 'utf8')).toBe('untouched')
  })

  test('names the file and the reason when it cannot be written, and keeps the code', async () => {
    const path = join(directory, 'key')
    await mkdir(path)
    await expect(writeFileAtomic(path, 'new')).rejects.toMatchObject({
      message: `${path} cannot be written: there is a folder of that name`,
      code: 'EISDIR',
      path,
    })
  })

  test('names the file when the disk is full', needs(MOUNTS), async () => {
    const disk = mountSmallDisk(directory, 1)
    disk.fill()
    const path = join(directory, 'key')
    const writing = createFileExclusive(path, 'x'.repeat(5000))
    await expect(writing.finally(disk.close)).rejects.toThrow(`${path} cannot be written: the disk is full`)
  })

  test('leaves no temporary file when the target cannot be replaced', async () => {
    await expect(writeFileAtomic(join(directory, 'missing', 'key'), 'x')).rejects.toThrow('ENOENT')
    expect(await readdir(directory)).toEqual([])
  })
})

describe('replaceFile', () => {
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777

  test('leaves a file the mode it has, whatever the umask', async () => {
    const path = join(directory, 'top.sls')
    await writeFile(path, 'old')
    await chmod(path, 0o666)
    await replaceFile(path, 'new')
    expect([await readFile(path, 'utf8'), await modeOf(path)]).toEqual(['new', 0o666])
  })

  test('makes a new file as the umask says', async () => {
    const before = process.umask(0o027)
    try {
      await replaceFile(join(directory, 'top.sls'), 'new')
    } finally {
      process.umask(before)
    }
    expect(await modeOf(join(directory, 'top.sls'))).toBe(0o640)
  })
})

describe('createFileExclusive', () => {
  test('creates the file in exactly one of many attempts at once', async () => {
    const path = join(directory, 'id')
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => createFileExclusive(path, `writer ${i}`)),
    )
    expect(outcomes.filter(Boolean)).toHaveLength(1)
    expect(await readFile(path, 'utf8')).toBe(`writer ${outcomes.indexOf(true)}`)
    expect(await readdir(directory)).toEqual(['id'])
  })

  test('rejects with the reason when the file cannot be made at all', async () => {
    await expect(createFileExclusive(join(directory, 'missing', 'id'), 'x')).rejects.toThrow('ENOENT')
  })
})
