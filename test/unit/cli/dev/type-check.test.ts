import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TypeCheck } from '../../../../core/cli/dev/type-check.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { until } from '../../../harness/until.ts'

const compiler = fileURLToPath(new URL('../../../../node_modules/typescript', import.meta.url))

let folder: string
let types: TypeCheck | undefined
const reports: string[] = []
beforeEach(async () => {
  folder = await temporaryFolder('salt-types-')
})
afterEach(async () => {
  types?.close()
  await removeFolder(folder)
})

const open = () => TypeCheck.open(folder, (text) => reports.push(text))
const save = (name: string, text: string) => writeFile(join(folder, name), text)
const reported = () => until('a report', () => reports.shift())

test('errors are reported, one a line, when they change', async () => {
  expect(open()).toBeUndefined()
  await save('tsconfig.json', '{ "compilerOptions": { "lib": ["es5"], "types": [] } }')
  expect(open()).toBeUndefined()
  await mkdir(join(folder, 'node_modules'))
  await symlink(compiler, join(folder, 'node_modules/typescript'))
  await save('one.ts', 'export const one: number = 1\nexport const two: number = "2"\n')
  types = open()
  const error = "one.ts:2:14: TS2322: Type 'string' is not assignable to type 'number'."
  expect(await reported()).toBe(`Types: 1 error.\n${error}`)
  await save('one.ts', 'export const one: number = 1\n')
  expect(await reported()).toBe('Types: no errors.')
})
