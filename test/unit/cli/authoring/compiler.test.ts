import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compilerApiOf, compilerOf } from '../../../../core/cli/authoring/compiler.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'

const installed = (name: string) =>
  fileURLToPath(new URL(`../../../../node_modules/${name}`, import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-compiler-')
})
afterAll(() => removeFolder(folder))

/** Return a folder with TypeScript 7. */
async function withSeven(name: string): Promise<string> {
  await mkdir(join(folder, name, 'node_modules', '@typescript'), { recursive: true })
  await symlink(installed('typescript'), join(folder, name, 'node_modules', 'typescript'))
  return join(folder, name)
}

test('a folder without TypeScript has no compiler', async () => {
  expect(compilerOf(folder)).toBeUndefined()
  expect(await compilerApiOf(folder)).toBeUndefined()
})

test('TypeScript 7 is a compiler without an API', async () => {
  const alone = await withSeven('alone')
  expect(compilerOf(alone)).toBe(join(installed('typescript'), 'bin', 'tsc'))
  expect(await compilerApiOf(alone)).toBeUndefined()
})

test('TypeScript 7 has the API of 6 that is installed beside it', SLOW, async () => {
  const both = await withSeven('both')
  const six = '@typescript/typescript6'
  await symlink(installed(six), join(both, 'node_modules', six))
  expect(await compilerApiOf(both)).toHaveProperty('createProgram')
})
