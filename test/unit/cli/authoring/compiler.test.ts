import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compilerApiOf, compilerOf } from '../../../../core/cli/authoring/compiler.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW_TEST } from '../../../harness/slow.ts'

const installed = fileURLToPath(new URL('../../../../node_modules/typescript', import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-compiler-')
})
afterAll(() => removeFolder(folder))

/** Return a folder with what is like TypeScript 7. */
async function withSeven(name: string): Promise<string> {
  const seven = join(folder, name, 'node_modules', 'typescript')
  await mkdir(seven, { recursive: true })
  const exports = { './package.json': './package.json', '.': './version.cjs' }
  await writeFile(join(seven, 'package.json'), JSON.stringify({ type: 'module', exports }))
  await writeFile(join(seven, 'version.cjs'), "exports.version = '7.0.2'\n")
  return join(folder, name)
}

test('a folder without TypeScript has no compiler', async () => {
  expect(compilerOf(folder)).toBeUndefined()
  expect(await compilerApiOf(folder)).toBeUndefined()
})

test('TypeScript 7 is a compiler without an API', async () => {
  const alone = await withSeven('alone')
  expect(compilerOf(alone)).toBe(join(alone, 'node_modules', 'typescript', 'bin', 'tsc'))
  expect(await compilerApiOf(alone)).toBeUndefined()
})

test('TypeScript 7 has the API of 6 that is installed beside it', SLOW_TEST, async () => {
  const both = await withSeven('both')
  await mkdir(join(both, 'node_modules', '@typescript'))
  await symlink(installed, join(both, 'node_modules', '@typescript', 'typescript6'))
  expect(await compilerApiOf(both)).toHaveProperty('createProgram')
})
