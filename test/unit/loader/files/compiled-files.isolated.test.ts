import { chmod, lstat, mkdir, readdir, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withPrivateFolder } from '../../../../core/loader/files/compiled-files.ts'
import { importFile } from '../../../../core/loader/files/import-file.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { until } from '../../../harness/until.ts'

const own = `salt-ts-${process.geteuid?.()}`
const before = process.env.TMPDIR
let folder: string
let temporary: string
beforeAll(async () => {
  folder = await temporaryFolder()
  temporary = path.join(folder, 'tmp')
  await mkdir(temporary)
  process.env.TMPDIR = temporary
})
afterAll(async () => {
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  await removeFolder(folder)
})

test('compiled files are stored in a folder that only its user may read and write', async () => {
  const file = path.join(folder, 'hello.ts')
  await writeFile(file, 'export const greet = (name: string): string => name\n')
  expect(Object.keys(await importFile({ path: file, builtIn: false }))).toEqual(['greet'])
  const compiled = path.join(temporary, own, `tsx-${process.geteuid?.()}`)
  await until('a compiled file is written', async () => (await readdir(compiled).catch(() => [])).length > 0)
  expect(await readdir(temporary)).toEqual([own])
  expect((await lstat(path.join(temporary, own))).mode & 0o777).toBe(0o700)
  expect([process.env.TMPDIR, os.tmpdir()]).toEqual([temporary, temporary])
})

test('a folder that other users have made, or may write, is not used, and nothing is stored', async () => {
  const other = path.join(folder, 'other')
  await mkdir(path.join(other, own), { recursive: true })
  await chmod(path.join(other, own), 0o777)
  process.env.TMPDIR = other
  try {
    expect(await withPrivateFolder(async () => os.tmpdir())).toBe(other)
    expect(process.env.TSX_DISABLE_CACHE).toBe('1')
  } finally {
    process.env.TMPDIR = temporary
    delete process.env.TSX_DISABLE_CACHE
  }
})
